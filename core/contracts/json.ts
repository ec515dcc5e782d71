/** Anything that survives JSON: what crosses the broker and what is stored as text. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };
