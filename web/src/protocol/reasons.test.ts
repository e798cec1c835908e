import { expect, test, vi } from "vitest";

// Node has no browser languages.
vi.hoisted(() => {
  const navigator = { languages: ["en"] };
  Object.defineProperty(globalThis, "navigator", { value: navigator, configurable: true });
});

import { reasonText, SENTENCES } from "./reasons";

const error = { message: "The file is larger than 2048 bytes.", code: "upload_too_large", params: { max: 2048 } };

test("a known code is a sentence in the language of the page, with sizes as it writes them", () => {
  expect(reasonText(error)).toBe("Too large: this server accepts files up to 2 KB.");
  expect(reasonText(error, "vi")).toBe("Quá lớn: máy chủ này nhận tệp tối đa 2 KB.");
  expect(reasonText(error, "zh")).toBe("文件太大：此服务器最大接收 2 KB。");
});

test("the server's own sentence is shown where the code is unknown, missing or lacks a param", () => {
  expect(reasonText({ ...error, code: "brand_new" }, "vi")).toBe(error.message);
  expect(reasonText({ ...error, code: "toString" }, "vi")).toBe(error.message);
  expect(reasonText({ message: error.message }, "zh")).toBe(error.message);
  expect(reasonText({ ...error, params: {} }, "zh")).toBe(error.message);
});

test("a param is inserted as it is, and an empty detail leaves no brackets", () => {
  const params = { provider: "{detail} $&", detail: "HTTP 500" };
  const lost = { message: "", code: "model_unreachable", params };
  expect(reasonText(lost)).toBe("Couldn’t reach {detail} $&. (HTTP 500)");
  expect(reasonText({ ...lost, params: { provider: "openai", detail: "" } })).toBe("Couldn’t reach openai.");
  expect(reasonText({ ...lost, params: { provider: "openai", detail: "" } }, "zh")).toBe("无法连接 openai。");
});

test("every sentence has the same params in all languages", () => {
  const paramsOf = (sentence: string) => [...sentence.matchAll(/\{[a-z_:]+\}/g)].map(([param]) => param).sort();
  for (const code of Object.keys(SENTENCES.en) as (keyof typeof SENTENCES.en)[]) {
    const [en, ...others] = [SENTENCES.en, SENTENCES.vi, SENTENCES.zh].map((all) => paramsOf(all[code]));
    for (const other of others) expect(other, code).toEqual(en);
  }
});
