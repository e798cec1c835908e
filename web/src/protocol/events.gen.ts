// Made by scripts/generate_types.py from the server's own values. `make types` writes it again.

export type TurnStopReason = "aborted" | "error" | "length" | "max_rounds" | "stop" | "tool_use";

export type CallStatus = "done" | "error" | "pending" | "running";

export type IconType = "archive" | "audio" | "code" | "csv" | "docx" | "file" | "image" | "json" | "md" | "pdf" | "pptx" | "txt" | "video" | "xlsx";

export type ConvertType = "docx" | "md" | "pdf";

export type Verdict = "contradicted" | "partial" | "supported" | "uncited" | "unread" | "unsupported";

export type StreamEvent = MessageStart | BlockStart | BlockDelta | BlockStop | ToolStatus | ToolProgress | ApprovalRequired | PlanUpdate | BudgetUpdate | MessageDelta | RoundRestart | Gap | MessageStop | ErrorEvent | Ping;

export type ContentBlock = TextBlock | ThinkingBlock | ToolUseBlock | ToolResultBlock | AttachmentsBlock | PlanBlock;

export type Growth = TextGrowth | ThinkingGrowth | CitationsGrowth;

export type PastMessage = PastUserMessage | PastAssistantMessage | PastToolMessage;

export type PastBlock = PastText | ThinkingBlock | PastToolUse | PlanBlock;

export interface About {
  version: string;
  search_provider: string | null;
  upload_bytes: number;
  storage: StorageView;
  keyless: boolean;
}

export interface ActiveRun {
  run_id: string;
}

export interface AgentList {
  agents: readonly AgentView[];
}

export interface AgentView {
  id: string;
  name: string;
  description: string;
  model: string | null;
  web_search: boolean;
  workspace: boolean;
}

export interface ApprovalReason {
  kind: "setting";
  number?: number;
  quote?: string;
}

export interface ApprovalRequired {
  type: "approval_required";
  tool_use_id: string;
  name: string;
  input: Readonly<Record<string, unknown>>;
  reasons: readonly ApprovalReason[];
  parent?: string;
}

export interface AttachmentsBlock {
  type: "attachments";
  files: readonly FileRecord[];
}

export interface BlockDelta {
  type: "content_block_delta";
  index: number;
  delta: TextGrowth | ThinkingGrowth | CitationsGrowth;
  parent?: string;
}

export interface BlockStart {
  type: "content_block_start";
  index: number;
  content_block: TextBlock | ThinkingBlock | ToolUseBlock | ToolResultBlock | AttachmentsBlock | PlanBlock;
  parent?: string;
}

export interface BlockStop {
  type: "content_block_stop";
  index: number;
  parent?: string;
}

export interface Budget {
  seconds?: number;
  usd?: number;
  pages?: number;
}

export interface BudgetUpdate {
  type: "budget_update";
  budget: Budget;
  spent: Spent;
}

export interface BundleCheck {
  entries: number;
  quotations: number;
  verdicts: number;
  otherwise: number;
  seal: string;
  notes: readonly string[];
}

export interface Citation {
  marker: string;
  number: number;
  start: number;
  end: number;
  verdict: "contradicted" | "partial" | "supported" | "uncited" | "unread" | "unsupported";
  quote: string | null;
  quote_start: number | null;
  quote_end: number | null;
  snapshot_id: string | null;
  passage: string | null;
  by: "model" | "text";
  missing: string | null;
  suggestion: number | null;
  differences: readonly Difference[];
}

export interface CitationsGrowth {
  type: "citations_delta";
  citations: readonly Citation[];
}

export interface Clarification {
  question: string | null;
  answers: readonly string[];
}

export interface ContextReport {
  tokens: number;
  window: number;
  shortened_results: number;
  shortened_texts: number;
  summarised_turns: number;
}

export interface ConvertedFile {
  download_url: string;
  filename: string;
  notes?: readonly string[];
}

export interface Delta {
  stop_reason: "aborted" | "error" | "length" | "max_rounds" | "stop" | "tool_use";
  unsourced?: boolean;
}

export interface Difference {
  start: number;
  end: number;
  quote_start: number;
  quote_end: number;
}

export interface Disagreement {
  about: string;
  values: readonly DisagreementValue[];
}

export interface DisagreementValue {
  text: string;
  number: number;
  quote_start: number;
  quote_end: number;
  published: string | null;
}

export interface ErrorBody {
  type: string;
  message: string;
  retryable: boolean;
  code?: string;
  params?: Readonly<Record<string, string | number>>;
  files?: readonly RefusedFile[];
  statements?: readonly RefusedStatement[];
}

export interface ErrorEvent {
  type: "error";
  error: ErrorBody;
}

export interface EvidencePassage {
  id: string;
  number: number;
  text: string;
  start: number;
  end: number;
  snapshot_id: string;
}

export interface FileCitations {
  file_path: string;
  version: number;
  counts: ProofCounts;
  citations: readonly Citation[];
}

export interface FileContent {
  content: string | null;
  filename: string;
  file_path: string;
  download_url: string | null;
}

export interface FileDiff {
  file_path: string;
  from: number;
  to: number;
  diff: string | null;
  added: number;
  removed: number;
}

export interface FileList {
  files: readonly FileRecord[];
}

export interface FileRecord {
  id: string;
  path: string;
  filename: string;
  icon_type: "archive" | "audio" | "code" | "csv" | "docx" | "file" | "image" | "json" | "md" | "pdf" | "pptx" | "txt" | "video" | "xlsx";
  source: "generated" | "upload";
  created_at: string;
  url: string;
  message_id: string | null;
}

export interface FileTable {
  file_path: string;
  filename: string;
  sheets: readonly string[];
  sheet: string;
  columns: number;
  left_out: number;
  rows: readonly (readonly (string | number | boolean | null)[])[];
  offset: number;
  total: number;
}

export interface FileText {
  file_path: string;
  filename: string;
  text: string;
}

export interface FileVersion {
  number: number;
  hash: string;
  size: number;
  created_at: string;
  author: "agent" | "user";
  message_id: string | null;
  call_id: string | null;
}

export interface FileVersions {
  file_path: string;
  filename: string;
  versions: readonly FileVersion[];
}

export interface FoundSession {
  id: string;
  title: string;
  agent_id: string;
  created_at: string;
  updated_at: string;
  active_run_id: string | null;
  excerpt: string | null;
  message_id: string | null;
  path: string | null;
}

export interface Gap {
  type: "gap";
  after: number;
  before: number;
}

export interface History {
  session: SessionHead;
  messages: readonly (PastUserMessage | PastAssistantMessage | PastToolMessage)[];
  workspace: WorkspaceView;
  active_run: ActiveRun | null;
  turns?: readonly PastTurn[];
}

export interface ImportedSession {
  id: string;
  title: string;
  agent_id: string;
  created_at: string;
  checked: BundleCheck;
}

export interface IssuedToken {
  id: string;
  name: string;
  created_at: string;
  used_at: string | null;
  expires_at: string | null;
  token: string;
}

export interface Link {
  url: string;
  start: number;
  end: number;
}

export interface MessageDelta {
  type: "message_delta";
  delta: Delta;
  usage: TurnUsage;
  context: ContextReport;
  timestamp?: string;
}

export interface MessageHead {
  id: string;
  role: "assistant";
  run_id: string;
  session_id: string;
  model: string;
}

export interface MessageStart {
  type: "message_start";
  message: MessageHead;
}

export interface MessageStop {
  type: "message_stop";
}

export interface ModelList {
  models: readonly ModelView[];
}

export interface ModelView {
  id: string;
  provider: string;
  available: boolean;
  default: boolean;
}

export interface PageReport {
  url: string;
  status: "failed" | "read" | "snippet";
  failure: "connection" | "consent_wall" | "dns" | "empty" | "media_type" | "needs_javascript" | "redirects" | "refused_address" | "robots" | "status" | "timeout" | "tls" | "too_large" | "unreadable" | null;
  reason: string | null;
  http_status: number | null;
  final_url: string | null;
  took_ms: number;
  bytes: number;
  characters: number;
  cut: boolean;
  cache: "fresh" | "library" | "revalidated" | null;
  chosen: string;
}

export interface Passage {
  number: number;
  text: string;
  start: number;
  end: number;
  score: number;
}

export interface PastAssistantMessage {
  role: "assistant";
  id: string;
  content: readonly (PastText | ThinkingBlock | PastToolUse | PlanBlock)[];
  attachments: readonly FileRecord[];
  turn_id?: string;
  timestamp?: string;
  parent?: string;
}

export interface PastText {
  type: "text";
  text: string;
  citations?: readonly Citation[];
}

export interface PastToolMessage {
  role: "tool";
  tool_call_id: string;
  name: string;
  content: string;
  status: "error" | "success";
  artifact: unknown;
  turn_id?: string;
  timestamp?: string;
  images?: readonly ToolImage[];
  parent?: string;
}

export interface PastToolUse {
  type: "tool_use";
  id: string;
  name: string;
  input: Readonly<Record<string, unknown>>;
  tool_content_message?: string | null;
}

export interface PastTurn {
  run_id: string;
  question_id: string;
  message_id: string;
  state: string;
  model: string;
  stop_reason: "aborted" | "error" | "length" | "max_rounds" | "stop" | "tool_use" | null;
  usage: TurnUsage | null;
  error: ErrorBody | null;
  questions: readonly string[];
  answers: readonly string[];
  timestamp?: string;
  ended_at: string | null;
  unsourced?: boolean;
  budget?: Budget;
  spent?: Spent;
}

export interface PastUserMessage {
  role: "user";
  id: string;
  content: readonly PastText[];
  attachments: readonly FileRecord[];
  turn_id?: string;
  timestamp?: string;
}

export interface Ping {
  type: "ping";
}

export interface PlanBlock {
  type: "plan";
  items: readonly PlanItem[];
  steering?: readonly string[];
}

export interface PlanChanges {
  items: readonly WantedItem[];
}

export interface PlanItem {
  id: string;
  question: string;
  status: "done" | "dropped" | "failed" | "pending" | "running";
  note?: string;
}

export interface PlanUpdate {
  type: "plan_update";
  index: number;
  items: readonly PlanItem[];
  steering?: readonly string[];
}

export interface PlanView {
  items: readonly PlanItem[];
  steering: readonly string[];
}

export interface Principal {
  user_id: string;
  name: string;
  role: "admin" | "user";
  by: "cookie" | "token";
}

export interface ProofCounts {
  statements: number;
  supported: number;
  partial: number;
  contradicted: number;
  unsupported: number;
  uncited: number;
  unread: number;
}

export interface ProviderTry {
  provider: string;
  outcome: "blocked" | "empty" | "error" | "results" | "skipped";
  took_ms: number;
  reason: string | null;
  cached: boolean;
  count: number;
  notes: readonly string[];
  code?: "bad_key" | "bad_request" | "busy" | "forbidden" | "internal" | "misconfigured" | "missing_setting" | "paused" | "quota" | "rate_limited" | "robot_check" | "server_error" | "timeout" | "unknown_provider" | "unreachable" | "unreadable";
}

export interface Quote {
  text: string;
  start: number;
  end: number;
}

export interface Receipt {
  providers: readonly ProviderTry[];
  pages: readonly PageReport[];
  passages_found: number;
  passages_kept: number;
  summary_by: string | null;
  took_ms: number;
  notes: readonly string[];
}

export interface RefusedFile {
  name: string;
  message: string;
  code: string;
  params: Readonly<Record<string, string | number>>;
}

export interface RefusedStatement {
  statement: string;
  verdict: string;
  start: number;
  end: number;
  numbers: readonly number[];
  missing: string | null;
  quote: string | null;
}

export interface RoundRestart {
  type: "round_restart";
  from_index: number;
}

export interface RunView {
  run_id: string;
  session_id: string;
  message_id: string;
  state: "cancelled" | "done" | "failed" | "queued" | "running" | "waiting";
  model: string;
  created_at: string;
  ended_at: string | null;
  stop_reason: "aborted" | "error" | "length" | "max_rounds" | "stop" | "tool_use" | null;
  usage: TurnUsage | null;
  error: ErrorBody | null;
  mode: "answer" | "check" | "research";
  budget?: Budget;
  spent?: Spent;
}

export interface SearchArtifact {
  query: string;
  sources: readonly Source[];
  summary: string;
  citations: readonly Citation[];
  passages: readonly Passage[];
  evidence: readonly EvidencePassage[];
  disagreements: readonly Disagreement[];
  receipt: Receipt;
}

export interface SessionHead {
  id: string;
  title: string;
  agent_id: string;
  created_at: string;
}

export interface SessionPage {
  sessions: readonly FoundSession[];
  next_cursor: string | null;
}

export interface Source {
  url: string;
  title: string;
  snippet: string;
  domain: string;
  favicon: string | null;
  number: number | null;
  status: "failed" | "read" | "snippet" | null;
  published: string | null;
  snapshot_id: string | null;
  fetched_at: string | null;
  quotes: readonly Quote[];
}

export interface SourceGroup {
  query: string;
  sources: readonly Source[];
}

export interface SourceSnapshot {
  id: string;
  title: string;
  text: string;
  media_type: string;
  fetched_at: string;
  links: readonly Link[];
  pages: readonly number[];
  quotes: readonly Quote[];
}

export interface SourceView {
  number: number;
  url: string;
  title: string;
  domain: string;
  status: "failed" | "read" | "snippet" | null;
  published: string | null;
  fetched_at: string | null;
  snapshots: readonly SourceSnapshot[];
}

export interface Spent {
  seconds: number;
  usd: number | null;
  pages: number;
}

export interface StartedRun {
  run_id: string;
  session_id: string;
  message_id: string;
  question_id: string;
  timestamp?: string;
}

export interface StorageView {
  used: number;
  limit: number;
}

export interface TemplateList {
  templates: readonly TemplateView[];
}

export interface TemplateView {
  name: string;
  title: string;
}

export interface TextBlock {
  type: "text";
  text: string;
}

export interface TextGrowth {
  type: "text_delta";
  text: string;
}

export interface ThinkingBlock {
  type: "thinking";
  thinking: string;
}

export interface ThinkingGrowth {
  type: "thinking_delta";
  thinking: string;
}

export interface TokenHead {
  id: string;
  name: string;
  created_at: string;
  used_at: string | null;
  expires_at: string | null;
}

export interface ToolImage {
  file_path: string;
  media_type: string;
  width: number;
  height: number;
}

export interface ToolList {
  tools: readonly ToolView[];
}

export interface ToolProgress {
  type: "tool_progress";
  tool_use_id: string;
  stage: string;
  done: number;
  total: number | null;
  label: string;
  parent?: string;
}

export interface ToolResultBlock {
  type: "tool_result";
  tool_use_id: string;
  name: string;
  status: "error" | "success";
  content: string;
  artifact: Readonly<Record<string, unknown>> | null;
  images?: readonly ToolImage[];
}

export interface ToolStatus {
  type: "tool_status";
  tool_use_id: string;
  status: "done" | "error" | "pending" | "running";
  parent?: string;
}

export interface ToolUseBlock {
  type: "tool_use";
  id: string;
  name: string;
  tool_content_message: string;
  input: Readonly<Record<string, unknown>>;
}

export interface ToolView {
  name: string;
  title: string;
  description: string;
  approval: boolean;
}

export interface TurnUsage {
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  reasoning_tokens: number;
  cost: number | null;
}

export interface User {
  id: string;
  name: string;
  role: "admin" | "user";
  disabled: boolean;
  created_at: string;
}

export interface UserList {
  users: readonly User[];
}

export interface WantedItem {
  id: string | null;
  question: string | null;
  status: "done" | "dropped" | "failed" | "pending" | "running" | null;
  note: string | null;
}

export interface WorkspaceView {
  sources: readonly SourceGroup[];
  workspace_files: readonly FileRecord[];
}
