import type { ModelBody } from '../admit/admit.ts'
import type { PassedPath } from '../api/passed-paths.ts'
import type { ClientRequest } from '../relay/request-body.ts'

/** A request to a passed-through path. */
export interface PathRequest {
  route: PassedPath
  /** Path below `/v1` as sent, with its query. */
  target: string
  /** Id in the path. Null without one. */
  id: string | null
  /** The body. For a form, `json` contains its model, and `text` is empty. */
  body: ClientRequest<ModelBody>
  /** Content type of a body that is not JSON. Null for JSON or no body. */
  formType: string | null
  /** Tells whether its file may be the input of a batch, whatever its `purpose` is. */
  holdsRequests: boolean
}
