import { useEffect, useRef } from "react";
import { useWords } from "../../lib/i18n";
import { useStore } from "../../lib/store";
import { catalog } from "../../state/catalog";
import { conversation } from "../../state/conversation";
import { agentNow, modelNow, READER } from "../../state/modelChoice";
import { preferences } from "../../state/preferences";
import { view } from "../../state/view";
import { CopyLine } from "../../ui/CopyLine";
import { Section } from "./Section";
import { words } from "./words";

/** Which model answers now, and how another one is added. Keys are given to the server where it runs, never to a page. */
export function ModelsSection() {
  const t = useWords(words);
  const heading = useRef<HTMLHeadingElement>(null);
  const isWanted = useStore(view, ({ section }) => section === "models");
  const known = useStore(catalog);
  const isAdmin = known.me?.role === "admin";
  const agentId = useStore(conversation, ({ head }) => head?.agent_id ?? null) ?? preferences.get().agent;
  const model = modelNow(
    known,
    agentNow(known, agentId),
    useStore(preferences, (liked) => liked.model),
  );
  useEffect(() => {
    if (!isWanted) return;
    // The dialog opens after what is in it was drawn.
    const frame = requestAnimationFrame(() => {
      heading.current?.scrollIntoView({ block: "start" });
      heading.current?.focus({ preventScroll: true });
    });
    return () => cancelAnimationFrame(frame);
  }, [isWanted]);
  return (
    <Section title={t.models} ref={heading}>
      <p>
        {t.answersNow} <strong dir="auto">{model === READER ? t.reader : (model ?? t.nobody)}</strong>
      </p>
      {model === READER && <p className="settings-note">{t.readerNote}</p>}
      {isAdmin ? (
        <HowToAdd open={isWanted || model === READER} />
      ) : (
        model === READER && <p className="settings-note">{t.askAdmin}</p>
      )}
    </Section>
  );
}

/** For whoever can start the server again. */
function HowToAdd({ open }: { open: boolean }) {
  const t = useWords(words);
  return (
    <details className="settings-details" open={open}>
      <summary>{t.howToAdd}</summary>
      <p className="settings-ways">{t.addModel}</p>
      <dl className="settings-list">
        <dt>Anthropic</dt>
        <dd>
          <CopyLine text="ANTHROPIC_API_KEY=… make serve" />
        </dd>
        <dt>OpenAI</dt>
        <dd>
          <CopyLine text="OPENAI_API_KEY=… make serve" />
        </dd>
        <dt>Ollama</dt>
        <dd>
          <CopyLine text="ollama run qwen3" />
          <span className="settings-note">{t.ollamaNote}</span>
        </dd>
        <dt>{t.otherServer}</dt>
        <dd>
          <CopyLine text='{"models": {"default": "local/qwen3", "providers": {"local": {"type": "openai", "baseUrl": "http://127.0.0.1:8000/v1"}}}}' />
          <span className="settings-note">{t.otherNote}</span>
        </dd>
      </dl>
    </details>
  );
}
