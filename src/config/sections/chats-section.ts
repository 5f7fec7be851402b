import { section } from './section.ts'
import { retentionDays } from './setting-values.ts'

/** Retention of chats. */
export const chatsSection = section(() => ({
  retention_days: retentionDays.describe('Retention of chats in days after their last message; null: forever.'),
}))
