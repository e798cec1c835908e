/** What there is to choose from, and who is asking. Read once, when the page opens and somebody is logged in. */

import { Store } from "../lib/store";
import { api, RequestFailed, whenLoggedOut } from "../protocol/client";
import type { About, AgentView, ModelView, Principal } from "../protocol/events.gen";

export interface Catalog {
  /** `unknown`: not asked yet. `nobody`: the login form is shown. */
  visit: "unknown" | "known" | "nobody" | "unreachable";
  me: Principal | null;
  agents: readonly AgentView[];
  models: readonly ModelView[];
  about: About | null;
}

export const catalog = new Store<Catalog>({ visit: "unknown", me: null, agents: [], models: [], about: null });

whenLoggedOut(() => catalog.set((known) => ({ ...known, visit: "nobody", me: null })));

export async function readCatalog(): Promise<void> {
  try {
    const me = await api.me();
    catalog.set((known) => ({ ...known, visit: "known", me }));
    const [{ agents }, { models }, about] = await Promise.all([api.agents(), api.models(), api.about()]);
    catalog.set({ visit: "known", me, agents, models, about });
  } catch (error) {
    if (error instanceof RequestFailed && error.status === 401) return;
    catalog.set((known) => ({ ...known, visit: known.me ? "known" : "unreachable" }));
  }
}

export async function logIn(name: string, password: string): Promise<void> {
  await api.logIn(name, password);
  await readCatalog();
}
