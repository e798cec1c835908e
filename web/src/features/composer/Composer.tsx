import { ArrowUp, ListPlus, Megaphone, Paperclip, Square } from "lucide-react";
import { type ChangeEvent, lazy, type RefObject, Suspense, useEffect, useRef } from "react";
import { useWords, wordsNow } from "../../lib/i18n";
import { useStore } from "../../lib/store";
import { RequestFailed } from "../../protocol/client";
import { stop } from "../../state/commands";
import { conversation } from "../../state/conversation";
import { activeTurn } from "../../state/select";
import { dropStop, forgetEscape, pressEscape, stopping as stoppingStore, wantStop } from "../../state/stopping";
import { toast } from "../../state/toasts";
import { uploads } from "../../state/uploads";
import { isPhone } from "../../state/view";
import { Spinner } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { Attachments } from "./Attachments";
import { attach, isAttached, useCanTell } from "./attaching";
import { AgentMenu, ModelMenu, ReaderNote } from "./Choices";
import { answerClarification, clarifying } from "./clarifying";
import "./composer.css";
import { change, draft } from "./draft";
import { Field } from "./Field";
import { Queued } from "./Queued";
import type { ClarifyProps } from "./research";
import { queue, sentence, submit } from "./sending";
import { Limits, WayButtons } from "./Way";
import { words } from "./words";

/** Where it cannot be loaded, the question is sent as it is. */
const Clarify = lazy(async () => {
  try {
    return { default: (await import("./research")).Clarify };
  } catch {
    return { default: SkipClarification };
  }
});

function SkipClarification(_: ClarifyProps) {
  useEffect(() => answerClarification(null), []);
  return null;
}

/** Where a question is written and sent. */
export function Composer() {
  const t = useWords(words);
  const field = useRef<HTMLTextAreaElement>(null);
  const stopping = useStopping();
  const notice = useStore(draft, (known) => known.notice);
  const canTell = useCanTell();
  const isUnclear = useStore(clarifying, (asked) => asked !== null);
  useFocus(field);
  return (
    <>
      {isUnclear && (
        <Suspense>
          <Clarify field={field} />
        </Suspense>
      )}
      <form
        className="composer"
        aria-label={t.question}
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <Queued onBack={() => field.current?.focus()} />
        {/* biome-ignore lint/a11y/noStaticElementInteractions: a click beside the text is meant for the field, which has keys. */}
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: as above. */}
        <div
          className="composer-box"
          onClick={(event) => event.target === event.currentTarget && field.current?.focus()}
        >
          <Attachments />
          <Field field={field} onSubmit={submit} onStop={stopping.isActive ? pressEscape : null} />
          {!canTell && <Limits />}
          <div className="composer-foot">
            <AttachButton />
            <div className="composer-choices">
              {!canTell && <WayButtons />}
              <AgentMenu />
              <ModelMenu />
            </div>
            {stopping.isActive ? <StopButtons stopping={stopping} /> : <SendButton />}
          </div>
        </div>
        <div className="composer-notes">
          <p role="status" className="composer-notice">
            {stopping.isAsked ? t.escapeAgain : notice}
          </p>
          {notice === null && !stopping.isAsked && <ReaderNote />}
        </div>
      </form>
    </>
  );
}

/** On a phone the keyboard would cover what was opened. */
function useFocus(field: RefObject<HTMLTextAreaElement | null>): void {
  const sessionId = useStore(conversation, (known) => known.sessionId);
  // biome-ignore lint/correctness/useExhaustiveDependencies: for each session that is opened.
  useEffect(() => {
    const isFree = document.activeElement === null || document.activeElement === document.body;
    const element = field.current;
    if (!isFree || isPhone() || !element) return;
    element.focus({ preventScroll: true });
    element.setSelectionRange(element.value.length, element.value.length);
  }, [field, sessionId]);
}

interface Stopping {
  isActive: boolean;
  isStopping: boolean;
  /** Escape was pressed once. */
  isAsked: boolean;
}

/** A run has no name before the server has taken the question: what is stopped until then is stopped as soon as it has. */
function useStopping(): Stopping {
  const turnKey = useStore(conversation, (known) => activeTurn(known)?.key ?? null);
  const runId = useStore(conversation, (known) => activeTurn(known)?.answer.runId ?? null);
  const { asked, wanted } = useStore(stoppingStore);
  const isStopping = turnKey !== null && wanted === turnKey;
  const isAsked = turnKey !== null && asked === turnKey;
  useEffect(() => {
    if (!isStopping || runId === null) return;
    stop().catch((error: unknown) => {
      dropStop();
      const offline = error instanceof RequestFailed && error.isOffline;
      toast(offline ? wordsNow(words).notStopped : sentence(error));
    });
  }, [isStopping, runId]);
  useEffect(() => {
    if (!isAsked) return;
    addEventListener("keydown", forgetEscape, { capture: true });
    addEventListener("pointerdown", forgetEscape, { capture: true });
    return () => {
      removeEventListener("keydown", forgetEscape, { capture: true });
      removeEventListener("pointerdown", forgetEscape, { capture: true });
    };
  }, [isAsked]);
  return { isActive: turnKey !== null, isStopping, isAsked };
}

function AttachButton() {
  const t = useWords(words);
  const input = useRef<HTMLInputElement>(null);
  const take = (event: ChangeEvent<HTMLInputElement>) => {
    attach([...(event.target.files ?? [])]);
    // The same file may be chosen once more.
    event.target.value = "";
  };
  return (
    <>
      <Button look="quiet" icon={Paperclip} label={t.attach} onClick={() => input.current?.click()} />
      <input ref={input} type="file" multiple hidden aria-label={t.attach} onChange={take} />
    </>
  );
}

function SendButton() {
  const t = useWords(words);
  const isEmpty = useStore(draft, (known) => known.text.trim() === "");
  const isSending = useStore(draft, (known) => known.held !== null && known.held.state !== "queued");
  const isAwaiting = useStore(draft, (known) => known.awaiting);
  const isReady = useStore(conversation, (known) => known.state === "ready");
  const sessionId = useStore(conversation, (known) => known.sessionId);
  const isUploading = useStore(uploads, (all) =>
    all.some((one) => isAttached(one, sessionId) && (one.state === "waiting" || one.state === "sending")),
  );
  if (isAwaiting)
    return (
      <Button title={t.uploadingStop} onClick={() => change({ awaiting: false, notice: null })}>
        <Spinner />
        {t.uploading}
      </Button>
    );
  const disabled = isEmpty || isSending || !isReady;
  if (isUploading)
    return (
      <Button look="main" type="submit" disabled={disabled} icon={ArrowUp}>
        {t.uploading}
      </Button>
    );
  const title = isEmpty ? t.sendNeedsText : t.hint;
  return <Button look="main" type="submit" icon={ArrowUp} label={t.send} title={title} disabled={disabled} />;
}

function StopButtons({ stopping }: { stopping: Stopping }) {
  const t = useWords(words);
  const canQueue = useStore(draft, (known) => known.text.trim() !== "" && known.held === null);
  const canTell = useCanTell();
  return (
    <>
      {canQueue && canTell && <Button look="main" type="submit" icon={Megaphone} label={t.tell} />}
      {canQueue && (
        <Button
          look="quiet"
          type={canTell ? "button" : "submit"}
          icon={ListPlus}
          label={t.queue}
          {...(canTell ? { onClick: queue } : {})}
        />
      )}
      <Button
        icon={Square}
        className="composer-stop"
        aria-disabled={stopping.isStopping || undefined}
        onClick={wantStop}
      >
        {stopping.isStopping ? t.stopping : t.stop}
      </Button>
    </>
  );
}
