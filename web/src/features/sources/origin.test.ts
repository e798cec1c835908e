import { expect, test } from "vitest";
import type { FileRecord } from "../../protocol/events.gen";
import { originOf } from "./origin";

const file = (filename: string, source: FileRecord["source"] = "upload", path = `user/id/${filename}`) =>
  ({ filename, source, path }) as FileRecord;

test.each([
  ["footnote://files/report.pdf", [file("report.pdf")], "user/id/report.pdf"],
  ["footnote://files/b%C3%A1o%20c%C3%A1o.pdf", [file("báo cáo.pdf")], "user/id/báo cáo.pdf"],
  ["footnote://files/báo%20cáo.pdf", [file("báo cáo.pdf")], "user/id/báo cáo.pdf"],
  ["footnote://files/u-1/report.pdf", [file("report.pdf")], "user/id/report.pdf"],
  ["footnote://files/report-2.pdf", [file("report.pdf")], "user/id/report.pdf"],
  ["footnote://files/report-2.pdf", [file("report.pdf"), file("report-2.pdf")], "user/id/report-2.pdf"],
  ["footnote://files/report.pdf", [file("report.pdf"), file("report.pdf", "upload", "other")], null],
  ["footnote://files/report.pdf", [file("report.pdf", "generated")], null],
  ["footnote://files/100%.pdf", [], null],
])("%s", (url, files, path) => {
  expect(originOf(url, files)).toMatchObject({ kind: "file", path });
});

test("other addresses", () => {
  expect(originOf("https://a.b/c", [])).toEqual({ kind: "web", href: "https://a.b/c" });
  expect(originOf("footnote://files/u/b%C3%A1o.pdf", [])).toEqual({ kind: "file", name: "báo.pdf", path: null });
  expect(originOf("footnote://docs/server.md", [])).toEqual({ kind: "documentation" });
});
