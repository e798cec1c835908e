import { expect, test, vi } from "vitest";
import { ago, size } from "./format";

// Here is no browser to ask for its languages.
vi.hoisted(() => {
  const navigator = { languages: ["en"] };
  Object.defineProperty(globalThis, "navigator", { value: navigator, configurable: true });
});

test("bytes are written as words", () => {
  expect(size(0, "en")).toBe("0 bytes");
  expect(size(1, "en")).toBe("1 byte");
  expect(size(4, "en")).toBe("4 bytes");
  expect(size(1023, "en")).toBe("1,023 bytes");
  expect(size(4, "vi")).toBe("4 byte");
  expect(size(4, "zh")).toBe("4字节");
});

test("sizes go up in the steps that limits are set in", () => {
  expect(size(1024, "en")).toBe("1 KB");
  expect(size(1536, "en")).toBe("1.5 KB");
  expect(size(1536, "vi")).toBe("1,5 KB");
  expect(size(104_857_600, "en")).toBe("100 MB");
  expect(size(104_857_600, "zh")).toBe("100 MB");
  expect(size(5 * 1024 ** 3, "en")).toBe("5 GB");
  expect(size(3000 * 1024 ** 4, "en")).toBe("3,000 TB");
});

test("what would be rounded to a whole step is one of the next", () => {
  expect(size(1024 ** 2 - 1, "en")).toBe("1 MB");
  expect(size(1024 ** 2 - 200, "en")).toBe("1,023.8 KB");
});

test("a moment ago is just now, and anything older than a week is a date", () => {
  const now = Date.parse("2025-03-20T12:00:00Z");
  expect(["en", "vi", "zh"].map((locale) => ago("2025-03-20T11:59:30Z", locale as "en", now))).toEqual([
    "just now",
    "vừa xong",
    "刚刚",
  ]);
  expect(ago("2025-03-20T11:55:00Z", "en", now)).toBe("5 min. ago");
  expect(ago("2025-03-19T12:00:00Z", "en", now)).toBe("yesterday");
  expect(ago("2025-03-01T12:00:00Z", "en", now)).toBe("Mar 1, 2025");
  expect(ago("not a date", "en", now)).toBe("not a date");
});
