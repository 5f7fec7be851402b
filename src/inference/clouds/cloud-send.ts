import type { Exchange, RelayRequest, ReplyListener, Send } from '../relay/exchange.ts'
import { CLIENT_GONE } from '../relay/send.ts'
import type { Cloud, CloudError, CloudRequest } from './cloud.ts'
import { advisedError } from './cloud-errors.ts'
import { answerWithModels, listsInstead } from './cloud-models.ts'
import { gatherError } from './gather-error.ts'

/**
 * Sends requests to an upstream in a cloud: translated, and signed as they are sent. Credentials that were refused
 * because they have ended are fetched again, once for each request. Errors say what to do, and never a token.
 */
export const cloudSend =
  (open: () => Promise<Cloud>, send: Send): Send =>
  (request, listener) => {
    /** Request under way at the cloud. Null while credentials are fetched. */
    let exchange: Exchange | null = null
    let isPaused = false
    let isOver = false
    const { key, asked } = withoutKey(request)

    async function attempt(mayRenew: boolean): Promise<void> {
      const cloud = await open()
      if (isOver) return
      const sent = isOwnList(cloud, asked) ? asked : cloud.translate(asked)
      if (sent === null) return answerNotThere(cloud, listener)
      const { headers, credentials } = await cloud.authorize(sent, key)
      if (isOver) return
      const receiver = isList(asked) ? listsInstead(cloud.ownModels, listener) : listener
      if (isOwnList(cloud, asked)) return answerWithModels(cloud.ownModels, listener)
      const watched = gatherError(receiver, (error) => {
        const mayEnd = credentials.until !== null || credentials.isReread === true
        const othersMayHelp = mayEnd && cloud.isEnded(error) && cloud.forget(credentials, !mayRenew)
        if (!mayRenew || !othersMayHelp) return advisedError(error, cloud, headers)
        exchange = null
        attempt(false).catch(fail)
        return null
      })
      exchange = send(
        { ...request, ...sent, headers: { ...sent.headers, ...headers } },
        cloud.reading?.(watched, () => exchange?.abort()) ?? watched,
      )
      if (isPaused) exchange.pause()
    }

    function fail(error: unknown): void {
      if (isOver) return
      isOver = true
      listener.onError(error as Error)
    }

    attempt(true).catch(fail)
    return {
      pause() {
        isPaused = true
        exchange?.pause()
      },
      resume() {
        isPaused = false
        exchange?.resume()
      },
      abort() {
        if (exchange === null) return fail(CLIENT_GONE)
        exchange.abort()
      },
    }
  }

const isList = ({ method, path }: CloudRequest): boolean => method === 'GET' && /^\/models(?:\?|$)/.test(path)
const isOwnList = ({ listsModels }: Cloud, asked: CloudRequest): boolean => !listsModels && isList(asked)

/** Answers as a server does that lacks a path or a model, so that another upstream may answer instead. */
function answerNotThere({ shapeError }: Cloud, listener: ReplyListener): void {
  const error = { message: 'This cloud has no such path, or no model by such a name.', code: 'not_found' }
  const text = JSON.stringify({ error: { ...error, type: 'invalid_request_error', param: null } })
  const plain: CloudError = { status: 404, headers: { 'content-type': 'application/json' }, text }
  const { status, headers, text: shaped } = shapeError?.(plain) ?? plain
  listener.onHead(status, headers)
  listener.onData(Buffer.from(shaped))
  listener.onEnd()
}

/** The key in a request, as the relay sends it elsewhere, and the request without it. */
function withoutKey({ method, path, headers, body }: RelayRequest): { key: string | null; asked: CloudRequest } {
  const { authorization = '', ...others } = headers
  const [, key = null] = /^Bearer (\S+)$/.exec(authorization) ?? []
  return { key, asked: { method, path, headers: others, body: typeof body === 'string' ? Buffer.from(body) : body } }
}
