/** A ticket as the API gives it, once. */
export interface Ticket {
  id: string
  url: string
  ticket: string
  expires_at: string
}
