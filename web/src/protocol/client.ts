/** All requests of the page. They go to its own server only, and are authenticated by the session cookie. */

import { wordsNow } from "../lib/i18n";
import type {
  About,
  AgentList,
  Budget,
  Clarification,
  ConvertedFile,
  ConvertType,
  ErrorBody,
  FileCitations,
  FileContent,
  FileDiff,
  FileList,
  FileRecord,
  FileTable,
  FileText,
  FileVersions,
  History,
  ImportedSession,
  IssuedToken,
  ModelList,
  PlanView,
  Principal,
  RunView,
  SessionHead,
  SessionPage,
  SourceView,
  StartedRun,
  TemplateList,
  TokenHead,
  User,
  UserList,
  WantedItem,
} from "./events.gen";
import { reasonText } from "./reasons";
import { words } from "./words";

/** A request that failed. `status` 0: the server could not be reached. */
export class RequestFailed extends Error {
  constructor(
    readonly status: number,
    readonly type: string,
    message: string,
    readonly retryable: boolean,
  ) {
    super(message);
  }

  get isOffline(): boolean {
    return this.status === 0;
  }
}

type Query = Record<string, string | number | boolean | null | undefined>;
interface Options {
  query?: Query;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** How long to wait for the response headers. */
  timeoutMs?: number;
}

const TIMEOUT_MS = 25_000;
/** For conversions and unpacking, which the server finishes before it responds. */
const LONG_TIMEOUT_MS = 180_000;

const loggedOutListeners = new Set<() => void>();

/** `listener` is called when a response says that the user is not logged in. */
export function onLoggedOut(listener: () => void): void {
  loggedOutListeners.add(listener);
}

function address(path: string, query: Query = {}): string {
  const pairs = Object.entries(query).filter(([, value]) => value !== null && value !== undefined);
  const search = new URLSearchParams(pairs.map(([name, value]) => [name, String(value)])).toString();
  return search ? `${path}?${search}` : path;
}

export async function refusal(response: Response): Promise<RequestFailed> {
  try {
    const { error } = (await response.json()) as { error: ErrorBody };
    return new RequestFailed(response.status, error.type, reasonText(error), error.retryable);
  } catch {
    return new RequestFailed(
      response.status,
      "unreadable",
      wordsNow(words).unreadable(response.status),
      response.status >= 500,
    );
  }
}

async function send(method: string, path: string, options: Options = {}): Promise<Response> {
  const headers: Record<string, string> = { accept: "application/json", ...options.headers };
  const init: RequestInit = { method, headers, credentials: "same-origin" };
  if (options.body !== undefined) {
    headers["content-type"] = "application/json";
    init.body = JSON.stringify(options.body);
  }
  // The timeout covers the wait for the response headers: a dead connection must not block the page. The body may take longer.
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), options.timeoutMs ?? TIMEOUT_MS);
  init.signal = options.signal ? AbortSignal.any([options.signal, timeout.signal]) : timeout.signal;
  let response: Response;
  try {
    response = await fetch(address(path, options.query), init);
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new RequestFailed(0, "offline", wordsNow(words).offline, true);
  } finally {
    clearTimeout(timer);
  }
  if (response.ok) return response;
  const failed = await refusal(response);
  if (failed.status === 401 && path !== "/v2/auth/login") for (const listener of loggedOutListeners) listener();
  throw failed;
}

async function json<T>(method: string, path: string, options?: Options): Promise<T> {
  return (await (await send(method, path, options)).json()) as T;
}

const ANY = { accept: "*/*" };
const session = (id: string, rest = "") => `/v2/sessions/${encodeURIComponent(id)}${rest}`;

/** The user's decision on a tool call that needs approval: this call, all calls of the tool in this session, all calls of
 * the tool, or none. */
export type Decision = "once" | "session" | "always" | "deny";

export interface Question {
  content: string;
  attachments: readonly string[];
  model: string | null;
  locale: string;
  mode: "answer" | "research";
  /** Null: the limits of the agent. */
  budget: Budget | null;
  /** Of a report; null: the server chooses. */
  template: string | null;
}

/** What is known before a research question is sent. */
export interface Unclear {
  content: string;
  agent_id: string | null;
  model: string | null;
  locale: string;
}

export const api = {
  me: () => json<Principal>("GET", "/v2/auth/me"),
  logIn: (name: string, password: string) => json<Principal>("POST", "/v2/auth/login", { body: { name, password } }),
  logOut: () => send("POST", "/v2/auth/logout"),
  changePassword: (old: string, password: string) =>
    send("POST", "/v2/auth/password", { body: { old_password: old, password } }),
  tokens: () => json<{ tokens: readonly TokenHead[] }>("GET", "/v2/tokens"),
  issueToken: (name: string, days: number | null) =>
    json<IssuedToken>("POST", "/v2/tokens", { body: { name, expires_in_days: days } }),
  revokeToken: (id: string) => send("DELETE", `/v2/tokens/${encodeURIComponent(id)}`),
  users: () => json<UserList>("GET", "/v2/users"),
  addUser: (user: { name: string; password: string; role: User["role"] }) =>
    json<User>("POST", "/v2/users", { body: user }),
  changeUser: (id: string, changes: { password?: string; role?: User["role"]; disabled?: boolean }) =>
    json<User>("PATCH", `/v2/users/${encodeURIComponent(id)}`, { body: changes }),
  removeUser: (id: string) => send("DELETE", `/v2/users/${encodeURIComponent(id)}`),
  about: () => json<About>("GET", "/v2/about"),
  agents: () => json<AgentList>("GET", "/v2/agents"),
  models: () => json<ModelList>("GET", "/v2/models"),

  sessions: (query: string, cursor: string | null, limit?: number) =>
    json<SessionPage>("GET", "/v2/sessions", { query: { query: query || null, cursor, limit } }),
  begin: (agentId: string | null) => json<SessionHead>("POST", "/v2/sessions", { body: { agent_id: agentId } }),
  head: (id: string) => json<SessionHead>("GET", session(id)),
  rename: (id: string, title: string) => json<SessionHead>("PATCH", session(id), { body: { title } }),
  show: (id: string, head: string) => json<SessionHead>("PATCH", session(id), { body: { head } }),
  remove: (id: string) => send("DELETE", session(id)),
  history: (id: string, signal?: AbortSignal) =>
    json<History>("GET", session(id, "/history"), { query: { turns: true }, ...(signal ? { signal } : {}) }),
  source: (id: string, number: number) => json<SourceView>("GET", session(id, `/sources/${number}`)),
  exportUrl: (id: string) => session(id, "/export"),
  importBundle: (file: File) =>
    fetch("/v2/bundles", { method: "POST", headers: { "content-type": "application/zip" }, body: file }).then(
      async (response) => {
        if (!response.ok) throw await refusal(response);
        return (await response.json()) as ImportedSession;
      },
    ),

  check: (wanted: ({ text: string } | { url: string }) & { locale: string }) =>
    json<StartedRun>("POST", "/v2/checks", { body: wanted, timeoutMs: LONG_TIMEOUT_MS }),
  ask: (id: string, question: Question) => json<StartedRun>("POST", session(id, "/messages"), { body: question }),
  edit: (id: string, messageId: string, question: Omit<Question, "mode">) =>
    json<StartedRun>("POST", session(id, `/messages/${messageId}/edit`), { body: question }),
  retry: (id: string, messageId: string, again: { model: string | null; locale: string }) =>
    json<StartedRun>("POST", session(id, `/messages/${messageId}/retry`), { body: again }),
  /** A question to the user before a research run. The caller limits the time that it may take. */
  clarify: (unclear: Unclear, signal: AbortSignal) =>
    json<Clarification>("POST", "/v2/clarifications", { body: unclear, signal, timeoutMs: LONG_TIMEOUT_MS }),
  /** With titles in this language, whatever that of the browser is. */
  templates: (language: string) =>
    json<TemplateList>("GET", "/v2/research/templates", {
      headers: { "accept-language": language },
    }),
  changePlan: (runId: string, items: readonly Partial<WantedItem>[]) =>
    json<PlanView>("PATCH", `/v2/runs/${runId}/plan`, { body: { items } }),
  finish: (runId: string) => json<RunView>("POST", `/v2/runs/${runId}/finish`),
  steer: (runId: string, content: string) => json<PlanView>("POST", `/v2/runs/${runId}/steer`, { body: { content } }),
  cancel: (runId: string) => json<RunView>("POST", `/v2/runs/${runId}/cancel`),
  decide: (runId: string, callId: string, decision: Decision) =>
    json<RunView>("POST", `/v2/runs/${runId}/approvals/${encodeURIComponent(callId)}`, { body: { decision } }),
  run: (runId: string) => json<RunView>("GET", `/v2/runs/${runId}`),

  files: (id: string) => json<FileList>("GET", session(id, "/files")),
  content: (id: string, path: string, version?: number) =>
    json<FileContent>("GET", session(id, "/files/content"), { query: { file_path: path, version } }),
  fileCitations: (id: string, path: string, version?: number) =>
    json<FileCitations>("GET", session(id, "/files/citations"), { query: { file_path: path, version } }),
  /** With the hash of the content, which a later write must name. */
  readFile: async (id: string, path: string, version?: number) => {
    const answer = await send("GET", session(id, "/files/content"), { query: { file_path: path, version } });
    const hash = /[0-9a-f]{64}/.exec(answer.headers.get("etag") ?? "")?.[0] ?? null;
    return { ...((await answer.json()) as FileContent), hash };
  },
  /** `baseHash`: the hash of the version that was edited. If the file has changed since, the server answers `file_changed`. */
  writeFile: (id: string, path: string, content: string, baseHash: string | null) =>
    json<FileRecord>("PUT", session(id, "/files/content"), {
      body: { file_path: path, content, base_hash: baseHash },
    }),
  table: (id: string, path: string, page: { version?: number; sheet?: string; offset?: number; limit?: number }) =>
    json<FileTable>("GET", session(id, "/files/table"), { query: { file_path: path, ...page } }),
  text: (id: string, path: string) => json<FileText>("GET", session(id, "/files/text"), { query: { file_path: path } }),
  rawUrl: (id: string, path: string, version?: number) =>
    address(session(id, "/files/raw"), { file_path: path, version }),
  /** For images that are text (SVG). */
  rawText: async (id: string, path: string, version?: number) =>
    (await send("GET", session(id, "/files/raw"), { query: { file_path: path, version }, headers: ANY })).text(),
  frameUrl: (id: string, path: string, version?: number) =>
    address(session(id, "/files/frame"), { file_path: path, version }),
  archiveUrl: (id: string) => session(id, "/files/archive"),
  filesUrl: (id: string) => session(id, "/files"),
  versions: (id: string, path: string) =>
    json<FileVersions>("GET", session(id, "/files/versions"), { query: { file_path: path } }),
  diff: (id: string, path: string, from?: number, to?: number) =>
    json<FileDiff>("GET", session(id, "/files/diff"), { query: { file_path: path, from, to } }),
  restore: (id: string, path: string, version: number, baseHash: string | null = null) =>
    json<FileRecord>("POST", session(id, "/files/restore"), {
      body: { file_path: path, version, base_hash: baseHash },
    }),
  /** `proof`: whether statements that are not supported are marked. */
  convert: (id: string, path: string, kind: ConvertType, proof: "mark" | "plain") =>
    json<ConvertedFile>("POST", session(id, "/files/convert"), {
      body: { file_path: path, convert_type: kind, proof },
      timeoutMs: LONG_TIMEOUT_MS,
    }),
  unpack: (id: string, path: string) =>
    json<FileList>("POST", session(id, "/files/unpack"), { body: { file_path: path }, timeoutMs: LONG_TIMEOUT_MS }),
  removeFile: (id: string, path: string) => send("DELETE", session(id, "/files"), { query: { file_path: path } }),

  faviconUrl: (domain: string) => `/v2/favicons/${encodeURIComponent(domain)}`,
  /** An image of the web, fetched by our server, and only after a click: the request tells its host something. */
  image: async (url: string) => (await send("POST", "/v2/images", { body: { url } })).blob(),
};
