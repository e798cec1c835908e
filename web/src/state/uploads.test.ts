import { expect, test, vi } from "vitest";
import { attachAgain, refusalOf, refuse, removeUpload, uploads } from "./uploads";

// Here is no browser to ask for its languages.
vi.hoisted(() => {
  const navigator = { languages: ["en"] };
  Object.defineProperty(globalThis, "navigator", { value: navigator, configurable: true });
});
vi.mock("./commands", () => ({ ensureSession: () => Promise.resolve("s") }));

test("a reason does not say the name that it stands beside", () => {
  const file = { name: "evil.exe", message: "evil.exe is a program.", code: "file_is_program", params: {} };
  const several = {
    type: "x",
    message: "evil.exe was not taken: evil.exe is a program.",
    retryable: false,
    files: [file],
  };
  const other = { type: "x", message: "The session is full.", retryable: false };
  const refusal = (error: object) => refusalOf({ status: 415, responseText: JSON.stringify({ error }) });
  expect(refusal(several).message).toBe("evil.exe is a program.");
  expect(refusal(other).message).toBe("The session is full.");
});

test("what is refused before it is sent stands in the list, and is not tried again", () => {
  refuse([new File(["abc"], "large.bin")], "Larger than 2 bytes.", { attached: true });
  const [one] = uploads.get();
  expect(one).toMatchObject({ state: "failed", error: "Larger than 2 bytes.", retryable: false, attached: true });
  if (one) removeUpload(one.id);
  expect(uploads.get()).toEqual([]);
});

test("a file of the session has no size here, and an empty one has", () => {
  refuse([new File([], "empty.txt")], "No.", { attached: true });
  const record = {
    id: "f",
    path: "/a.md",
    filename: "a.md",
    icon_type: "md",
    source: "generated",
    created_at: "",
    url: "",
    message_id: null,
  } as const;
  attachAgain("s", [record]);
  expect(uploads.get().map((one) => [one.file.name, one.size, one.sessionId])).toEqual([
    ["empty.txt", 0, null],
    ["a.md", null, "s"],
  ]);
});
