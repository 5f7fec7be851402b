import * as z from 'zod'
import { Escrow, EscrowList, NewEscrow, Refund, Release } from '../../../src/escrow/escrow.ts'
import type { Gateway } from '../../../src/gateway.ts'
import { callerOf, type FrameContext } from '../../web/frame-context.ts'
import { listReply } from '../../web/list-reply.ts'
import { defineRoute, type Route } from '../define-route.ts'
import { pageOf } from '../list-page.ts'

const OneEscrow = z.strictObject({ id: z.string().max(128) })

/** The key that escrows are shown to. Null for an admin's, which sees all. */
function viewerOf(c: FrameContext) {
  const caller = callerOf(c)
  return caller.scopes.has('admin') ? null : caller
}

/** Routes of rewards that are locked until their tasks are done. */
export const escrowRoutes = ({ escrows }: Gateway): Route[] => [
  defineRoute('POST /api/wallet/escrow', {
    operation: 'createEscrow',
    summary: 'Create an escrow for a task',
    description:
      'For the creator of the task and admins. The money comes from the caller’s account. A task has one escrow at ' +
      'a time, and none after a release.',
    access: 'platform',
    body: NewEscrow,
    reply: Escrow,
    status: 201,
    idempotent: true,
    run: ({ body, c, keep }) => escrows.create(body, callerOf(c), keep),
  }),
  defineRoute('GET /api/wallet/escrow', {
    operation: 'listEscrows',
    summary: 'List escrows, newest first',
    description:
      'Those that the caller pays, and those of tasks that it created or claimed; with `task_id` also those that pay ' +
      'the caller. An admin sees all.',
    access: 'platform',
    query: EscrowList.strict(),
    reply: pageOf(Escrow),
    run: ({ query, c }) => listReply(query, (part) => escrows.list(part, viewerOf(c))),
  }),
  defineRoute('GET /api/wallet/escrow/{id}', {
    operation: 'getEscrow',
    summary: 'Retrieve an escrow',
    description: 'One that the caller pays or that pays the caller, or one of a task that it created or claimed.',
    access: 'platform',
    params: OneEscrow,
    reply: Escrow,
    run: ({ params, c }) => escrows.get(params.id, viewerOf(c)),
  }),
  defineRoute('POST /api/wallet/escrow/release', {
    operation: 'releaseEscrow',
    summary: 'Release an escrow of a completed task after gaze verification',
    description:
      'For its payer, its recipient and admins. Pays the recipient of the escrow, or else the key that completed ' +
      'the task. A release that names another recipient is refused (409 recipient_fixed). A repeated release gets ' +
      'the same reply. If gaze verification fails (403 gaze_verification_failed, with the reasons), nothing ' +
      'changes, and the release can be retried.',
    access: 'platform',
    body: Release,
    reply: Escrow,
    idempotent: true,
    run: ({ body, c }) => escrows.release(body, callerOf(c)),
  }),
  defineRoute('POST /api/wallet/escrow/{id}/refund', {
    operation: 'refundEscrow',
    summary: 'Refund an escrow',
    description:
      'For its payer and admins, once the escrow has expired, or the task failed or was cancelled. A repeated ' +
      'refund gets the same reply.',
    access: 'platform',
    params: OneEscrow,
    body: Refund,
    optionalBody: true,
    reply: Escrow,
    idempotent: true,
    run: ({ params, body, c }) => escrows.refund(params.id, body, callerOf(c)),
  }),
]
