import { useCallback, useEffect, useRef } from "react";
import { useStore } from "../../../lib/store";
import { api } from "../../../protocol/client";
import type { FileRecord, FileVersion } from "../../../protocol/events.gen";
import { conversation } from "../../../state/conversation";
import { type Loaded, useFor, useLoaded } from "./loading";

/** A file at one of its versions. */
export interface Shown {
  sessionId: string;
  file: FileRecord;
  version: FileVersion;
  isNewest: boolean;
}

export interface Versions {
  loaded: Loaded<readonly FileVersion[]>;
  /** The one that is looked at. */
  version: FileVersion | null;
  newest: FileVersion | null;
  /** It was written to since it was opened. */
  hasChanged: boolean;
  choose: (number: number) => void;
  /** After a change of our own. */
  showNewest: () => Promise<void>;
}

interface Pin {
  number: number;
  newestThen: number;
}

export function useRecord(path: string): FileRecord | null {
  return useStore(conversation, (known) => known.files.find((file) => file.path === path) ?? null);
}

/** What is looked at stays the same while a run writes new versions: the reader is told, and goes on when they like. */
export function useVersions(sessionId: string, path: string): Versions {
  const load = useCallback(async () => (await api.versions(sessionId, path)).versions, [sessionId, path]);
  const loaded = useLoaded(load);
  const [pin, setPin] = useFor<Pin | null>(path, null);
  const newest = loaded.value?.[0] ?? null;
  useWritten(path, loaded.again);
  useEffect(() => {
    if (pin === null && newest) setPin({ number: newest.number, newestThen: newest.number });
  }, [pin, newest, setPin]);
  const number = pin?.number ?? newest?.number;
  return {
    loaded,
    version: loaded.value?.find((one) => one.number === number) ?? null,
    newest,
    hasChanged: pin !== null && newest !== null && newest.number > pin.newestThen,
    choose: (chosen) => setPin({ number: chosen, newestThen: newest?.number ?? chosen }),
    showNewest: async () => {
      const last = (await loaded.again())?.[0];
      if (last) setPin({ number: last.number, newestThen: last.number });
    },
  };
}

/** The list of files gets a new record when something was written to one, in this tab or another. */
function useWritten(path: string, again: () => Promise<unknown>): void {
  const record = useRecord(path);
  const known = useRef({ path, record });
  useEffect(() => {
    const before = known.current;
    known.current = { path, record };
    if (record && before.path === path && before.record !== record) void again();
  }, [path, record, again]);
}
