import { useEffect, useRef, useState } from "react";
import { LazyModule, useLazyModule } from "./lazyModule";

const LONGEST = 8000;

const formulas = new LazyModule(() => import("./formulas"));

export interface FormulaProps {
  value: string;
  source: string;
  display: boolean;
  closed: boolean;
}

/** A formula. Its source is shown until KaTeX is loaded, and if KaTeX cannot parse it. */
export function Formula({ value, source, display, closed }: FormulaProps) {
  const element = useRef<HTMLSpanElement>(null);
  const [failed, setFailed] = useState<string | null>(null);
  const wanted = closed && value.length <= LONGEST && failed !== value;
  const draw = useLazyModule(formulas, wanted)?.drawFormula;
  const drawn = wanted && draw !== undefined;
  useEffect(() => {
    if (!drawn || !element.current) return;
    try {
      draw(value, display, element.current);
    } catch {
      setFailed(value);
    }
  }, [drawn, draw, value, display]);
  if (drawn) return <span key="drawn" ref={element} className="md-formula" data-display={display || undefined} />;
  return (
    <code key="source" className="md-formula-source" data-display={display || undefined}>
      {source}
    </code>
  );
}
