import { useState } from "react";
import { useWords } from "../../../lib/i18n";
import type { Decision } from "../../../protocol/client";
import type { CallPart } from "../../../state/answer";
import { decide } from "../../../state/commands";
import { Button } from "../../../ui/Button";
import { attempt } from "../busy";
import { Given } from "./Exchange";
import { visible } from "./visible";
import { words } from "./words";

/** A call that waits for the user: what the tool would get, as data, and what can be decided. */
export function ApprovalQuestion({ call, input }: { call: CallPart; input: CallPart["input"] }) {
  const t = useWords(words);
  const [isSent, setSent] = useState(false);
  const choose = async (decision: Decision) => {
    setSent(true);
    if (!(await attempt(() => decide(call.id, decision)))) setSent(false);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a question with its answers, not a part of a form.
    <div className="chat-approval" role="group" aria-label={t.mayItRun}>
      <p role="alert">{t.mayItRun}</p>
      <Given input={input} written={visible} />
      <div className="chat-approval-answers">
        <Button small look="main" disabled={isSent} onClick={() => choose("once")}>
          {t.allowOnce}
        </Button>
        <Button small disabled={isSent} onClick={() => choose("session")}>
          {t.allowSession}
        </Button>
        <Button small disabled={isSent} onClick={() => choose("always")}>
          {t.allowAlways}
        </Button>
        <Button small look="danger" disabled={isSent} onClick={() => choose("deny")}>
          {t.deny}
        </Button>
      </div>
    </div>
  );
}
