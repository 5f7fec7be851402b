import type { Gateway } from '../../src/gateway.ts'
import { StoredGaze, StoreGaze } from '../../src/gaze/gaze.ts'
import { RetrieveGaze } from '../../src/gaze/history.ts'
import { GazeRecord } from '../../src/gaze/tensor.ts'
import type { Identity } from '../../src/identity/keys.ts'
import { callerOf } from './caller.ts'
import { pageOf } from './page.ts'
import { defineRoute, type Route } from './route.ts'

const tag = 'Gaze'

/** Gaze records: where a person's attention was. */
export const gazeRoutes = ({ gaze }: Gateway): Route[] => [
  defineRoute({
    method: 'POST',
    path: '/api/gaze/store',
    tag,
    summary: 'Store gaze records, and learn how far they prove attention',
    description:
      'At most 1,000 at a time. A session is its maker’s: no other key adds to it, and only that key and admins see it. ' +
      'Records that the session has already are counted and left out.',
    access: 'platform',
    body: StoreGaze.strict(),
    reply: StoredGaze,
    status: 201,
    idempotent: true,
    run: ({ body, c }) => gaze.store(body, callerOf(c).id),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/gaze/history',
    tag,
    summary: 'Gaze records, newest first',
    description: 'Those that the key stored; an admin sees everyone’s, and those that tools on this machine stored.',
    access: 'platform',
    query: RetrieveGaze.strict(),
    reply: pageOf(GazeRecord),
    run: ({ query, c }) => gaze.retrieve(query, gazeVisibleTo(callerOf(c))),
  }),
]

/** Whose gaze a caller is shown: its own; everyone's (undefined) where it is an admin. */
export const gazeVisibleTo = ({ id, scopes }: Identity): string | undefined => (scopes.has('admin') ? undefined : id)
