import type { ReplyListener } from '../relay/exchange.ts'
import type { Credentials } from './held-credentials.ts'

/** Variables of the environment in which clouds' tools look for credentials. */
export type CloudEnvironment = Readonly<Record<string, string | undefined>>

/** A request to a cloud. Its path begins below the base URL. */
export interface CloudRequest {
  method: string
  path: string
  headers: Readonly<Record<string, string>>
  body: Buffer | null
}

/** Headers that authorize a request, and the credentials behind them. */
export interface Authorization {
  headers: Readonly<Record<string, string>>
  credentials: Credentials
}

/** An error reply of a cloud. */
export interface CloudError {
  status: number
  headers: Readonly<Record<string, string | string[] | undefined>>
  text: string
  /** True when the end of the text is missing. */
  isCut?: boolean
}

/** Ways of one cloud: where a request goes, how it is signed, and what its errors mean. */
export interface Cloud {
  /**
   * Writes the path, the headers and the body as the cloud wants them. Null for what it does not have: another path than
   * those of its API, or a model by a name that none can have.
   */
  translate(request: CloudRequest): CloudRequest | null
  /**
   * Authorizes a request as it is sent.
   *
   * @param key API key or bearer token of the upstream. Null: the credentials of the environment, a file or the machine
   * @throws GazewayError `upstream_not_configured` when there are none, or their service refuses to give some
   */
  authorize(request: CloudRequest, key: string | null): Promise<Authorization>
  /**
   * Forgets credentials that were refused, so that the next request gets new ones.
   *
   * @param isNew true for those that were fetched in place of refused ones
   * @returns true when others may help
   */
  forget(credentials: Credentials, isNew: boolean): boolean
  /** Tells whether an error means that credentials have ended, so that new ones may help. */
  isEnded(error: CloudError): boolean
  /** Advice for an error, beside what it says itself. Null when there is nothing to add. */
  advice(error: CloudError): string | null
  /** Writes an error as the upstream's API does. Absent where the cloud does so itself. */
  shapeError?(error: CloudError): CloudError
  /** False where the cloud has no list of models: `ownModels` answer, once there are credentials. */
  listsModels: boolean
  /** Model ids that the configuration names, in place of the cloud's own list. Empty for that list. */
  ownModels: readonly string[]
  /**
   * Reads replies in a form of the cloud's own. Absent where they are those of the upstream's API.
   *
   * @param abort ends the request
   */
  reading?(listener: ReplyListener, abort: () => void): ReplyListener
}
