import * as z from 'zod'
import type { Gateway } from '../../../src/gateway.ts'
import { callerOf } from '../../web/frame-context.ts'
import { defineRoute, type Route } from '../define-route.ts'

/** Key or wallet that calls. */
const CallerId = z
  .string()
  .regex(/^[\w.:-]{1,128}$/)
  .meta({ accepted: 'the id of a key, or the address of a wallet' })

/** Routes by which an admin erases what a caller wrote. */
export const forgetRoutes = ({ forget, log }: Gateway): Route[] => [
  defineRoute('POST /api/callers/{id}/forget', {
    operation: 'forgetCaller',
    summary: 'Erase what a caller wrote, and keep what proves money',
    description:
      'Revokes the key, waits until all processes know of it, and erases its chats, conversations, memories, contents ' +
      'and session words of calls, gaze, reviews, texts of tasks, and its name. Ledger, receipts, sums and statements stay ' +
      'under its id. Takes at least 6 s; nothing of requests under way is stored afterwards. May be repeated.',
    access: 'admin',
    params: z.strictObject({ id: CallerId }),
    reply: z.strictObject({
      id: z.string(),
      erased: z.record(z.string(), z.int().min(1)).describe('Erased rows by table'),
    }),
    async run({ params: { id }, c }) {
      const erased = await forget(id)
      log.info('Caller forgotten.', { by: callerOf(c).id, caller_id: id })
      return { id, erased }
    },
  }),
]
