/** Texts that are too long to be sent whole, some of their bytes at a time. */

import { wordsNow } from "../../../lib/i18n";
import { api, RequestFailed, refusal } from "../../../protocol/client";
import { words } from "./words";

export const PIECE_BYTES = 1024 ** 2;
/** More of a text than this cannot be unreadable. */
const MOST_UNREADABLE = 0.05;
const NEWLINE = 10;

/** Where a text is read. */
export interface Place {
  sessionId: string;
  path: string;
  version: number;
  size: number;
}

export interface Piece {
  text: string;
  /** Where the next one begins. */
  end: number;
}

/** It was read, and is no text. */
export class NoText extends Error {}

export async function readPiece({ sessionId, path, version, size }: Place, start: number): Promise<Piece> {
  // Asked for each time: such an address is good for an hour.
  const { content, download_url } = await api.content(sessionId, path, version);
  if (content !== null || download_url === null) return { text: content ?? "", end: size };
  const bytes = await read(download_url, start);
  const isLast = start + bytes.length >= size;
  const taken = isLast ? bytes : bytes.subarray(0, lengthOfLines(bytes));
  return { text: textIn(taken), end: start + taken.length };
}

async function read(address: string, start: number): Promise<Uint8Array> {
  // The server may name itself by another address than the one it was reached by; the page talks only to the latter.
  const { pathname, search } = new URL(address, location.href);
  let response: Response;
  try {
    response = await fetch(pathname + search, { headers: { range: `bytes=${start}-${start + PIECE_BYTES - 1}` } });
  } catch {
    // Perhaps it lies in a storage elsewhere, to which the page does not talk.
    throw new RequestFailed(0, "offline", wordsNow(words).notFetched, true);
  }
  if (!response.ok) throw await refusal(response);
  const bytes = new Uint8Array(await response.arrayBuffer());
  return response.status === 206 ? bytes : bytes.subarray(start, start + PIECE_BYTES);
}

/** How many bytes are whole lines; of a single line that does not end, whole characters. */
export function lengthOfLines(bytes: Uint8Array): number {
  const newline = bytes.lastIndexOf(NEWLINE);
  if (newline >= 0) return newline + 1;
  let end = bytes.length;
  for (let back = 1; back <= 4 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    if (byte >= 0xc0) end = bytes.length - back;
    break;
  }
  return end === 0 ? bytes.length : end;
}

export function textIn(bytes: Uint8Array): string {
  if (bytes.includes(0)) throw new NoText();
  const text = new TextDecoder().decode(bytes);
  const unreadable = text.split("\ufffd").length - 1;
  if (unreadable > MOST_UNREADABLE * text.length) throw new NoText();
  return text;
}
