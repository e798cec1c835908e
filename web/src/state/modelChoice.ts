/** Who answers: the agent of a session, and the model that it takes. */

import type { AgentView, ModelView } from "../protocol/events.gen";
import type { Catalog } from "./catalog";

/** The model that is always there. It quotes, and does not reason. */
export const READER = "footnote/reader";

/** The variables in which providers that are known by name look for their keys. */
const KEYS: Readonly<Record<string, string>> = {
  anthropic: "ANTHROPIC_API_KEY",
  openai: "OPENAI_API_KEY",
  openrouter: "OPENROUTER_API_KEY",
};

export function keyOf(provider: string): string | null {
  return KEYS[provider] ?? null;
}

/** Where none is named, or one that is gone, the server takes the first. */
export function agentNow({ agents }: Catalog, agentId: string | null): AgentView | null {
  return agents.find((agent) => agent.id === agentId) ?? agents[0] ?? null;
}

/** What answers where nobody chose a model. */
export function modelByDefault({ models }: Catalog, agent: AgentView | null): string | null {
  return agent?.model ?? models.find((model) => model.default)?.id ?? null;
}

export function modelNow(catalog: Catalog, agent: AgentView | null, chosen: string | null): string | null {
  return chosen ?? modelByDefault(catalog, agent);
}

/** Those that can be asked first; the default one before the others. */
export function inOrder(models: readonly ModelView[]): ModelView[] {
  const rank = (model: ModelView) => (model.default ? 0 : 1) + (model.available ? 0 : 2);
  return models.toSorted((one, other) => rank(one) - rank(other));
}

/** A name without its provider: `anthropic/claude` is `claude`. */
export function bareName(model: string): string {
  return model.slice(model.indexOf("/") + 1);
}
