import { describe, expect, it } from "vitest";
import type { FileRecord } from "../../protocol/events.gen";
import { mentionAt, mentioned } from "./mention";

function file(filename: string, created_at = "2026-01-01T00:00:00Z"): FileRecord {
  return {
    id: filename,
    path: `/${filename}`,
    filename,
    icon_type: "md",
    source: "upload",
    created_at,
    url: "",
    message_id: null,
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

  it("is no address of mail, and ends with a space", () => {
    expect(mentionAt("ann@example.org", 15)).toBeNull();
    expect(mentionAt("@report ", 8)).toBeNull();
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
  });
});
