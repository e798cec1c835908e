import { expect, test } from "vitest";
import type { FileRecord } from "../../protocol/events.gen";
import { canUnpack, exportsOf, folderOf, hasSource, imagePath, isEditable, kindOf, languageOf } from "./kinds";

function file(
  path: string,
  icon_type: FileRecord["icon_type"],
  source: FileRecord["source"] = "generated",
): FileRecord {
  const filename = path.split("/").at(-1) ?? path;
  return { id: path, path, filename, icon_type, source, created_at: "", url: "", message_id: null };
}

test("pages and drawings are told from code and from other images", () => {
  expect(kindOf(file("/a/Page.HTML", "code"))).toBe("html");
  expect(kindOf(file("/plot.svg", "image"))).toBe("svg");
  expect(kindOf(file("/plot.png", "image"))).toBe("image");
  expect(kindOf(file("/blob", "file"))).toBe("unknown");
});

test("a file of an archive keeps its folders, and the address of an upload is none", () => {
  expect(folderOf(file("/notes/a/b.md", "md"))).toBe("notes/a/");
  expect(folderOf(file("/b.md", "md"))).toBe("");
  expect(folderOf(file("local://uploads/u/f/b.md", "md", "upload"))).toBe("");
  expect(folderOf(file("s3://bucket/x/uploads/u/f/a/c/b.md", "md", "upload"))).toBe("a/c/");
});

test("languages are known by their suffix", () => {
  expect(languageOf("a.py")).toBe("python");
  expect(languageOf("query.sql")).toBe("sql");
  expect(languageOf("Makefile")).toBeNull();
});

test("what looks otherwise than it is written has a source", () => {
  expect(hasSource(file("/a.md", "md"))).toBe(true);
  expect(hasSource(file("/a.csv", "csv"))).toBe(true);
  expect(hasSource(file("/a.xlsx", "xlsx"))).toBe(false);
});

test("uploads cannot be edited", () => {
  expect(isEditable(file("/a.md", "md"))).toBe(true);
  expect(isEditable(file("local://uploads/u/f/a.md", "md", "upload"))).toBe(false);
  expect(isEditable(file("/a.pdf", "pdf"))).toBe(false);
});

test("a file is not exported to what it is, and an image not at all", () => {
  expect(exportsOf(file("/a.md", "md"))).toEqual(["pdf", "docx"]);
  expect(exportsOf(file("/a.docx", "docx"))).toEqual(["pdf", "md"]);
  expect(exportsOf(file("/a.png", "image"))).toEqual([]);
});

test("only zip files are unpacked", () => {
  expect(canUnpack(file("/a.zip", "archive"))).toBe(true);
  expect(canUnpack(file("/a.tar.gz", "archive"))).toBe(false);
});

test("an image of a document is found beside it, below the root, and among uploads", () => {
  const upload = file("local://uploads/u/f/photo.jpg", "image", "upload");
  const files = [file("/docs/img/a b.png", "image"), file("/chart.png", "image"), upload];
  expect(imagePath(files, "/docs/report.md", "img/a%20b.png")).toBe("/docs/img/a b.png");
  expect(imagePath(files, "/docs/report.md", "../chart.png")).toBe("/chart.png");
  expect(imagePath(files, "/docs/report.md", "chart.png")).toBe("/chart.png");
  expect(imagePath(files, "/docs/report.md", "photo.jpg")).toBe(upload.path);
  expect(imagePath(files, "/docs/report.md", upload.path)).toBe(upload.path);
  expect(imagePath(files, "/docs/report.md", "https://evil.example/chart.png")).toBeNull();
  expect(imagePath(files, "/docs/report.md", "none.png")).toBeNull();
});
