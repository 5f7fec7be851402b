import { Receipt } from '../review/receipt.ts'
import { ReviewRecord, ReviewWithParts } from '../review/review-record.ts'
import type { Reviews } from '../review/reviews.ts'
import type { AskRemote } from './remote-request.ts'

/** Reviews that are begun, read and decided with another key than that of a caller here. */
export type ReviewOfOne = Pick<Reviews, 'create' | 'addEvidence' | 'decide' | 'get'>

/** Creates the reviews of a remote Gazeway, which observes and countersigns them. Its key says whose they are. */
export function remoteReviews(ask: AskRemote): ReviewOfOne {
  const path = (id: string) => `/api/reviews/${encodeURIComponent(id)}`
  return {
    create: (body) => ask({ method: 'POST', path: '/api/reviews', body, reply: ReviewRecord }),
    addEvidence: (id, records) =>
      ask({ method: 'POST', path: `${path(id)}/evidence`, body: { records }, reply: ReviewWithParts.shape.reading }),
    decide: (id, body) => ask({ method: 'POST', path: `${path(id)}/decision`, body, reply: Receipt }),
    get: (id) => ask({ path: path(id), reply: ReviewWithParts }),
  }
}
