import type { CallerContext, ModelBody } from '../admit/admit.ts'
import type { Bill } from '../admit/bill.ts'
import { billedFields } from '../admit/billed-fields.ts'
import { type ClientRequest, convertedText, requestBody } from '../relay/request-body.ts'

/** A request to be written for one candidate. */
export interface Writing {
  /** The client's request. */
  request: ClientRequest<ModelBody>
  /** Its body as the candidate's API expresses it, with the model there. */
  sent: object
  /** True when that is not the body of the client. */
  isChanged: boolean
  /** Converts the body of the client to `sent`. */
  converted(body: object): object
  /** Fields to set in a body of the candidate's API: the model, and what is added or mended. */
  fieldsOf(body: object): Readonly<Record<string, unknown>>
  bill: Bill
  /** Headers of the client's request that an upstream of the same protocol receives too. */
  headers: CallerContext['headers']
}

/** A request as it is sent to one candidate. */
export interface Written {
  method: 'GET' | 'POST' | 'DELETE'
  /** Path with its query. Null for the candidate's path. */
  target: string | null
  body: string | Buffer | null
  headers: CallerContext['headers']
  /** Length at which a whole reply is cut. */
  cutAtBytes?: number | undefined
}

/** Writes the client's own bytes with the fields set in them. A body that is changed elsewhere is serialized. */
export function splicedRequest(writing: Writing): Written | Promise<Written> {
  const { request, fieldsOf, bill, headers, isChanged } = writing
  const set = (body: object) => (bill.isBounded ? { ...billedFields(request.json), ...fieldsOf(body) } : fieldsOf(body))
  return posted(isChanged ? rewritten(writing, set) : requestBody(request, set), headers)
}

/** Writes a converted body. The client's headers are those of another protocol. */
export function convertedRequest(writing: Writing): Written | Promise<Written> {
  return posted(rewritten(writing, writing.fieldsOf), undefined)
}

function rewritten({ request, sent, converted }: Writing, set: Writing['fieldsOf']): string | Promise<string | Buffer> {
  const withFields = (body: object) => ({ ...body, ...set(body) })
  return convertedText(request, withFields(sent), (json) => withFields(converted({ ...json, ...request.edits })))
}

const posted = (
  body: string | Buffer | Promise<string | Buffer>,
  headers: Written['headers'],
): Written | Promise<Written> =>
  body instanceof Promise
    ? body.then((text) => ({ method: 'POST', target: null, body: text, headers }))
    : { method: 'POST', target: null, body, headers }
