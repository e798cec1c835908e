export { beginningOf, elementsOf, type Judged } from "./judged";
export { Proof } from "./Proof";
