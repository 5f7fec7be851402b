import * as z from 'zod'
import { section } from './section.ts'

/** Fixed key, beside the keys in the store. */
export const identitySection = section(() => ({
  api_key: z
    .string()
    .regex(/^[\x21-\x7e]{16,4096}$/)
    .nullable()
    .default(null)
    .meta({
      variable: 'GAZEWAY_API_KEY',
      description: 'Fixed admin key, for containers; other keys also work.',
      accepted: 'a key of at least 16 characters without spaces, or null',
      secret: 'value',
    }),
}))
