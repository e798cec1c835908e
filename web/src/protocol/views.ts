import type { FileTable } from "./events.gen";

export type { About, FileTable as TablePage, FileText } from "./events.gen";
export type Cell = FileTable["rows"][number][number];

/** A token of a program, without the token itself. */
export interface TokenHead {
  id: string;
  name: string;
  created_at: string;
  used_at: string | null;
  expires_at: string | null;
}

/** The only time that the token itself is shown. */
export interface IssuedToken extends TokenHead {
  token: string;
}
