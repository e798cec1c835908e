import { Component, type ReactNode } from "react";
import { wordsNow } from "../lib/i18n";
import { Button } from "./Button";
import { words } from "./words";

/** What breaks inside it does not take the page with it. */
export class Boundary extends Component<{ children: ReactNode }, { broken: boolean }> {
  override state = { broken: false };

  static getDerivedStateFromError(): { broken: boolean } {
    return { broken: true };
  }

  override render(): ReactNode {
    if (!this.state.broken) return this.props.children;
    const t = wordsNow(words);
    return (
      <div className="ui-notice" data-tone="bad">
        <span />
        <span>{t.notShown}</span>
        <Button small onClick={() => this.setState({ broken: false })}>
          {t.retryShowing}
        </Button>
      </div>
    );
  }
}
