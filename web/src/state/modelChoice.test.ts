import { describe, expect, it } from "vitest";
import type { AgentView, ModelView } from "../protocol/events.gen";
import type { Catalog } from "./catalog";
import { agentNow, bareName, inOrder, modelNow } from "./modelChoice";

function agent(id: string, model: string | null = null): AgentView {
  return { id, name: id, description: "", model, web_search: true, workspace: true };
}

function model(id: string, available = true, isDefault = false): ModelView {
  return { id, provider: id.split("/")[0] ?? "", available, default: isDefault };
}

const KNOWN: Catalog = {
  login: "in",
  me: null,
  agents: [agent("first"), agent("writer", "anthropic/claude")],
  models: [model("openai/gpt", false), model("ollama/qwen3"), model("footnote/reader", true, true)],
  about: null,
};

describe("who answers", () => {
  it("is the first agent where none is named, or one that is gone", () => {
    expect(agentNow(KNOWN, null)?.id).toBe("first");
    expect(agentNow(KNOWN, "gone")?.id).toBe("first");
    expect(agentNow(KNOWN, "writer")?.id).toBe("writer");
  });

  it("is what was chosen, else the agent's model, else the default one", () => {
    expect(modelNow(KNOWN, agent("first"), "ollama/qwen3")).toBe("ollama/qwen3");
    expect(modelNow(KNOWN, agent("writer", "anthropic/claude"), null)).toBe("anthropic/claude");
    expect(modelNow(KNOWN, agent("first"), null)).toBe("footnote/reader");
  });
});

describe("models to choose from", () => {
  it("begin with the default one and end with those that cannot be asked", () => {
    expect(inOrder(KNOWN.models).map((one) => one.id)).toEqual(["footnote/reader", "ollama/qwen3", "openai/gpt"]);
  });

  it("keep slashes of their own in their names", () => {
    expect(bareName("openrouter/anthropic/claude")).toBe("anthropic/claude");
  });
});
