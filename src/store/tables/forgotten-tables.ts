/** A caller whose content was erased: the id of a key, or the address of a wallet. */
export interface ForgottenRow {
  id: string
  at: string
}

export interface ForgottenTables {
  forgotten: ForgottenRow
}
