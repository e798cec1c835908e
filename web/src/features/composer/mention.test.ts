import { describe, expect, it } from "vitest";
import type { FileRecord } from "../../protocol/events.gen";
import { mentionAt, mentioned } from "./mention";

function file(filename: string, created_at = "2026-01-01T00:00:00Z", rest: Partial<FileRecord> = {}): FileRecord {
  return {
    id: filename,
    path: `local://uploads/${filename}`,
    filename,
    icon_type: "md",
    source: "upload",
    created_at,
    url: "",
    message_id: null,
    ...rest,
  };
}

describe("mentionAt", () => {
  it("finds what is being written, at the caret", () => {
    expect(mentionAt("compare @rep with", 12)).toEqual({ at: 8, name: "rep" });
    expect(mentionAt("@", 1)).toEqual({ at: 0, name: "" });
  });

  it("needs no space where a language has none", () => {
    expect(mentionAt("请看@报告", 5)).toEqual({ at: 2, name: "报告" });
  });

  it("is no address of mail, and ends with its line", () => {
    expect(mentionAt("ann@example.org", 15)).toBeNull();
    expect(mentionAt("@ report", 8)).toBeNull();
    expect(mentionAt("@report\nand", 11)).toBeNull();
  });

  it("goes on behind a space, since names have some", () => {
    expect(mentionAt("Read @báo cáo", 13)).toEqual({ at: 5, name: "báo cáo" });
  });
});

describe("mentioned", () => {
  it("finds names with and without their marks, the newest first", () => {
    const files = [file("Báo cáo Đà Nẵng.docx"), file("bao-cao.md", "2026-02-01T00:00:00Z"), file("table.csv")];
    expect(mentioned(files, { at: 0, name: "bao" }).map((one) => one.filename)).toEqual([
      "bao-cao.md",
      "Báo cáo Đà Nẵng.docx",
    ]);
    expect(mentioned(files, { at: 0, name: "da" })).toHaveLength(1);
    expect(mentioned(files, { at: 0, name: "bao cao da" })).toHaveLength(1);
    expect(mentioned(files, { at: 0, name: "table " })).toEqual([]);
  });

  it("finds nothing by where an upload is stored", () => {
    expect(
      mentioned([file("exported.pdf"), file("plan.md")], { at: 0, name: "pl" }).map((one) => one.filename),
    ).toEqual(["plan.md"]);
    expect(mentioned([file("exported.pdf")], { at: 0, name: "uploads" })).toEqual([]);
  });

  it("puts names that begin so first, then words and folders, then the rest", () => {
    const files = [
      file("sample.md", "2026-05-01T00:00:00Z"),
      file("notes.md", "2026-04-01T00:00:00Z", { path: "/plans/notes.md", source: "generated" }),
      file("old-plan.md", "2026-03-01T00:00:00Z"),
      file("plan.md", "2026-01-01T00:00:00Z"),
    ];
    expect(mentioned(files, { at: 0, name: "pl" }).map((one) => one.filename)).toEqual([
      "plan.md",
      "notes.md",
      "old-plan.md",
      "sample.md",
    ]);
  });
});
