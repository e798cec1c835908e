/** The logged-in user, and the agents and models of the server. Loaded when the page opens and after a login. */

import { Store } from "../lib/store";
import { api, onLoggedOut, RequestFailed } from "../protocol/client";
import type { About, AgentView, ModelView, Principal } from "../protocol/events.gen";

export interface Catalog {
  /** `unknown`: the server has not answered yet. `out`: the login form is shown. `unreachable`: the server cannot be reached. */
  login: "unknown" | "in" | "out" | "unreachable";
  me: Principal | null;
  agents: readonly AgentView[];
  models: readonly ModelView[];
  about: About | null;
}

export const catalog = new Store<Catalog>({ login: "unknown", me: null, agents: [], models: [], about: null });

/** Shows the login form when a response says that the user is not logged in. */
export function followLogin(): void {
  onLoggedOut(() => catalog.set((known) => ({ ...known, login: "out", me: null })));
}

export async function readCatalog(): Promise<void> {
  try {
    const me = await api.me();
    catalog.set((known) => ({ ...known, login: "in", me }));
    const [{ agents }, { models }, about] = await Promise.all([api.agents(), api.models(), api.about()]);
    catalog.set({ login: "in", me, agents, models, about });
  } catch (error) {
    if (error instanceof RequestFailed && error.status === 401) return;
    catalog.set((known) => ({ ...known, login: known.me ? "in" : "unreachable" }));
  }
}

export async function logIn(name: string, password: string): Promise<void> {
  await api.logIn(name, password);
  await readCatalog();
}
