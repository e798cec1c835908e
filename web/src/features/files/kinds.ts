/** What can be done with a file, by its name and the kind that the server gave it. */

import type { ConvertType, FileRecord } from "../../protocol/events.gen";

export type Kind =
  | "markdown"
  | "code"
  | "text"
  | "json"
  | "table"
  | "pdf"
  | "document"
  | "image"
  | "svg"
  | "html"
  | "archive"
  /** Sound and film: there is nothing to show, only something to save. */
  | "media"
  /** A name that says nothing: shown where it turns out to be text. */
  | "unknown";

type Named = Pick<FileRecord, "filename" | "icon_type">;

const BY_ICON: Record<FileRecord["icon_type"], Kind> = {
  md: "markdown",
  pdf: "pdf",
  code: "code",
  image: "image",
  csv: "table",
  xlsx: "table",
  docx: "document",
  pptx: "document",
  json: "json",
  txt: "text",
  archive: "archive",
  audio: "media",
  video: "media",
  file: "unknown",
};

/** The address of an upload, which says nothing to people, up to the folders that it had in an archive. */
const BEFORE_FOLDERS = /^.*?uploads\/[^/]+\/[^/]+\//;

/** The folders of a file, with a slash behind them. */
export function folderOf({ path, source }: FileRecord): string {
  const within = source === "upload" ? path.replace(BEFORE_FOLDERS, "") : path.slice(1);
  return within.slice(0, within.lastIndexOf("/") + 1);
}

/** Suffixes that are not the name of their language. */
const LANGUAGES: Readonly<Record<string, string>> = {
  py: "python",
  pyi: "python",
  ipynb: "json",
  js: "javascript",
  mjs: "javascript",
  cjs: "javascript",
  jsx: "javascript",
  ts: "typescript",
  tsx: "typescript",
  htm: "html",
  svg: "xml",
  xsl: "xml",
  xsd: "xml",
  vue: "html",
  svelte: "html",
  scss: "css",
  less: "css",
  kt: "java",
  kts: "java",
  scala: "java",
  groovy: "java",
  h: "c",
  cc: "cpp",
  cxx: "cpp",
  hpp: "cpp",
  cs: "csharp",
  rs: "rust",
  rb: "ruby",
  sh: "bash",
  zsh: "bash",
  fish: "bash",
  yml: "yaml",
  toml: "ini",
  cfg: "ini",
  conf: "ini",
  env: "ini",
  md: "markdown",
  markdown: "markdown",
  mdx: "markdown",
  patch: "diff",
  jsonl: "json",
  ndjson: "json",
  json5: "json",
  geojson: "json",
};

function suffixOf(filename: string): string {
  const dot = filename.lastIndexOf(".");
  return dot < 0 ? "" : filename.slice(dot + 1).toLowerCase();
}

export function kindOf({ filename, icon_type }: Named): Kind {
  const suffix = suffixOf(filename);
  if (suffix === "html" || suffix === "htm" || suffix === "xhtml") return "html";
  if (suffix === "svg") return "svg";
  return BY_ICON[icon_type] ?? "unknown";
}

export function languageOf(filename: string): string | null {
  const suffix = suffixOf(filename);
  return LANGUAGES[suffix] ?? (suffix || null);
}

/** One value of JSON, not many of them in a row, and no dialect that has more than JSON. */
export function isWholeJson(filename: string): boolean {
  return ["json", "geojson"].includes(suffixOf(filename));
}

/** It looks otherwise than it is written. */
export function hasSource(file: Named): boolean {
  const kind = kindOf(file);
  return kind === "markdown" || kind === "html" || kind === "svg" || file.icon_type === "csv";
}

/** The server judges the statements of texts that were written in the session. */
export function isJudged(file: FileRecord): boolean {
  return file.source === "generated" && ["markdown", "text"].includes(kindOf(file));
}

/** Uploads stay as they came. */
export function isEditable(file: FileRecord): boolean {
  if (file.source !== "generated") return false;
  return ["markdown", "code", "text", "json", "html"].includes(kindOf(file)) || file.icon_type === "csv";
}

/** What the server makes of it: documents of all that has text. */
export function exportsOf(file: Named): readonly ConvertType[] {
  if (["image", "audio", "video", "archive"].includes(file.icon_type)) return [];
  const own = suffixOf(file.filename);
  return (["pdf", "docx", "md"] as const).filter((target) => target !== own);
}

/** The server opens zip files. */
export function canUnpack(file: Named): boolean {
  return suffixOf(file.filename) === "zip";
}

/** Where in the workspace an image of a document is: beside it, or below the root; an upload also by its bare name. */
export function imagePath(
  files: readonly Pick<FileRecord, "path" | "filename" | "source">[],
  document: string,
  wanted: string,
): string | null {
  if (/^[a-z][a-z0-9+.-]*:/i.test(wanted) && !files.some((file) => file.path === wanted)) return null;
  const name = decoded(wanted.split(/[?#]/)[0] ?? "");
  const folder = document.startsWith("/") ? document.slice(0, document.lastIndexOf("/") + 1) : "/";
  const beside = normal(name.startsWith("/") ? name : folder + name);
  const found =
    files.find((file) => file.path === wanted || file.path === beside) ??
    files.find((file) => file.path === normal(`/${name}`)) ??
    files.find((file) => file.source === "upload" && file.filename === name.split("/").at(-1));
  return found?.path ?? null;
}

function normal(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
