import { Trash2 } from "lucide-react";
import { type FormEvent, useCallback, useEffect, useRef, useState } from "react";
import { ago, day } from "../../lib/format";
import { useLocale, useWords } from "../../lib/i18n";
import { api } from "../../protocol/client";
import type { IssuedToken, TokenHead } from "../../protocol/events.gen";
import { Button } from "../../ui/Button";
import { CopyLine } from "../../ui/CopyLine";
import { Section } from "./Section";
import { words } from "./words";

const LIVES = [30, 90, 365, 0] as const;

/** For programs that ask this server. */
export function TokensSection() {
  const t = useWords(words);
  const [tokens, setTokens] = useState<readonly TokenHead[] | null>(null);
  const [issued, setIssued] = useState<IssuedToken | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const attempt = useCallback(async (work: () => Promise<void>) => {
    setProblem(null);
    try {
      await work();
      setTokens((await api.tokens()).tokens);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  }, []);
  useEffect(() => void attempt(() => Promise.resolve()), [attempt]);
  const issue = (name: string, days: number | null) => attempt(async () => setIssued(await api.issueToken(name, days)));
  const revoke = (id: string) =>
    attempt(async () => {
      await api.revokeToken(id);
      setIssued((shown) => (shown?.id === id ? null : shown));
    });
  return (
    <Section title={t.tokens}>
      <p className="settings-note">{t.tokensNote}</p>
      {tokens && tokens.length > 0 && (
        <ul className="settings-tokens">
          {tokens.map((token) => (
            <Token key={token.id} token={token} onRevoke={() => void revoke(token.id)} />
          ))}
        </ul>
      )}
      {tokens?.length === 0 && <p className="settings-note">{t.noTokens}</p>}
      {issued && <Issued key={issued.id} token={issued} />}
      {problem && (
        <p className="settings-problem" role="alert">
          {problem}
        </p>
      )}
      <NewToken onIssue={issue} />
    </Section>
  );
}

/** It is shown once: it comes into sight, and the keyboard to what copies it. */
function Issued({ token }: { token: IssuedToken }) {
  const t = useWords(words);
  const room = useRef<HTMLDivElement>(null);
  const copy = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    room.current?.scrollIntoView({ block: "center" });
    copy.current?.focus({ preventScroll: true });
  }, []);
  return (
    <div ref={room} className="settings-issued" role="status">
      <p>{t.issued(token.name)}</p>
      <CopyLine text={token.token} named button={copy} />
    </div>
  );
}

function Token({ token, onRevoke }: { token: TokenHead; onRevoke: () => void }) {
  const t = useWords(words);
  const locale = useLocale();
  const [isSure, setSure] = useState(false);
  return (
    <li className="settings-row">
      <span className="settings-token">
        <span dir="auto">{token.name}</span>
        <span className="settings-note">
          {t.made(day(token.created_at, locale))} · {token.used_at ? t.used(ago(token.used_at, locale)) : t.unused} ·{" "}
          {token.expires_at ? t.expires(day(token.expires_at, locale)) : t.lasting}
        </span>
      </span>
      {isSure ? (
        <Button small look="danger" autoFocus onClick={onRevoke} onBlur={() => setSure(false)}>
          {t.reallyRevoke}
        </Button>
      ) : (
        <Button small look="quiet" icon={Trash2} label={t.revoke(token.name)} onClick={() => setSure(true)} />
      )}
    </li>
  );
}

function NewToken({ onIssue }: { onIssue: (name: string, days: number | null) => Promise<void> }) {
  const t = useWords(words);
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const values = new FormData(form);
    setBusy(true);
    await onIssue(String(values.get("name")).trim(), Number(values.get("days")) || null);
    setBusy(false);
    // What was typed meanwhile is the next token's name.
    if (new FormData(form).get("name") === values.get("name")) {
      form.reset();
    }
  };
  return (
    <form className="settings-new" onSubmit={(event) => void submit(event)}>
      <label>
        <span className="settings-label">{t.tokenName}</span>
        <input
          className="ui-field"
          name="name"
          maxLength={100}
          required
          pattern=".*\S.*"
          autoComplete="off"
          dir="auto"
        />
      </label>
      <label>
        <span className="settings-label">{t.tokenLife}</span>
        <select className="ui-field" name="days" defaultValue={90}>
          {LIVES.map((days) => (
            <option key={days} value={days}>
              {days === 0 ? t.forever : t.days(days)}
            </option>
          ))}
        </select>
      </label>
      <Button type="submit" disabled={busy}>
        {t.create}
      </Button>
    </form>
  );
}
