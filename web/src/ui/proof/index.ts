export { beginningOf, elementsOf, type Judged } from "./judged";
export { Proof, ProofLine } from "./Proof";
