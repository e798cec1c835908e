import { afterEach, expect, test, vi } from "vitest";
import { safeHref } from "./Link";

afterEach(() => vi.unstubAllGlobals());

const at = (address: string) => vi.stubGlobal("location", new URL(address));

test.each(["https://example.org/a?b=c#d", "http://example.org/", "mailto:a@example.org"])("%s is followed", (href) => {
  at("http://127.0.0.1:8080/s/one");
  expect(safeHref(href)).toBe(href);
});

test.each([
  "/login?token=secret",
  "/v2/sessions/one/export",
  "  /logout",
  "#composer",
  "?file=/a.md",
  "//127.0.0.1:8080/login?token=secret",
  "http://127.0.0.1:8080/login?token=secret",
  "HTTP://127.0.0.1:8080/",
  "http://localhost:8080/login?token=secret",
  "http://[::1]:8080/login?token=secret",
  "http://127.1:8080/login",
])("an answer cannot lead to %s, an address of this server", (href) => {
  at("http://127.0.0.1:8080/s/one");
  expect(safeHref(href)).toBeNull();
});

test("another server of the same machine is another place", () => {
  at("http://127.0.0.1:8080/s/one");
  expect(safeHref("http://127.0.0.1:9090/a")).toBe("http://127.0.0.1:9090/a");
  at("https://footnote.example/s/one");
  expect(safeHref("https://footnote.example/login")).toBeNull();
  expect(safeHref("https://footnote.example:443/login")).toBeNull();
  expect(safeHref("http://footnote.example./login")).toBeNull();
  expect(safeHref("https://example.org/")).toBe("https://example.org/");
});

test.each(["http://user:pw@example.org/", "https://example.org@evil.example/", "https://:pw@evil.example/"])(
  "%s has a name or a password in it, and is no link",
  (href) => {
    at("http://127.0.0.1:8080/");
    expect(safeHref(href)).toBeNull();
  },
);
