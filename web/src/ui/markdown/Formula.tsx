import { useEffect, useRef, useState } from "react";

type Draw = typeof import("./formulas").drawFormula;

const LONGEST = 8000;
let loaded: Draw | null = null;

export interface FormulaProps {
  value: string;
  source: string;
  display: boolean;
  closed: boolean;
}

/** A formula, drawn once what draws it is there. Until then, and if it is none, it is shown as it was written. */
export function Formula({ value, source, display, closed }: FormulaProps) {
  const element = useRef<HTMLSpanElement>(null);
  const [failed, setFailed] = useState<string | null>(null);
  const wanted = closed && value.length <= LONGEST && failed !== value;
  const draw = useDrawing(wanted);
  const drawn = wanted && draw !== null;
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

function useDrawing(wanted: boolean): Draw | null {
  const [draw, setDraw] = useState<Draw | null>(() => loaded);
  useEffect(() => {
    if (!wanted || draw) return;
    let gone = false;
    import("./formulas").then(
      ({ drawFormula }) => {
        loaded = drawFormula;
        if (!gone) setDraw(() => drawFormula);
      },
      () => undefined,
    );
    return () => {
      gone = true;
    };
  }, [wanted, draw]);
  return draw;
}
