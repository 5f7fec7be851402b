import type { Exchange, RelayRequest, Send } from '../relay/exchange.ts'
import { CLIENT_GONE } from '../relay/send.ts'
import type { Cloud, CloudRequest } from './cloud.ts'
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
      const sent = cloud.translate(asked)
      const { headers, credentials } = await cloud.authorize(sent, key)
      if (isOver) return
      const receiver = isList(asked) ? listsInstead(cloud.ownModels, listener) : listener
      if (isList(asked) && !cloud.listsModels) return answerWithModels(cloud.ownModels, listener)
      const watched = gatherError(receiver, (error) => {
        if (!mayRenew || (credentials.until === null && !credentials.isReread) || !cloud.isEnded(error))
          return advisedError(error, cloud, headers)
        cloud.forget(credentials)
        exchange = null
        attempt(false).catch(fail)
        return null
      })
      exchange = send(
        { ...request, ...sent, headers: { ...sent.headers, ...headers } },
        cloud.reading?.(sent, watched) ?? watched,
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

/** The key in a request, as the relay sends it elsewhere, and the request without it. */
function withoutKey({ method, path, headers, body }: RelayRequest): { key: string | null; asked: CloudRequest } {
  const { authorization = '', ...others } = headers
  const [, key = null] = /^Bearer (\S+)$/.exec(authorization) ?? []
  return { key, asked: { method, path, headers: others, body: typeof body === 'string' ? Buffer.from(body) : body } }
}
