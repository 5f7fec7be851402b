import { GazewayError } from '../../src/errors.ts'
import type { Gateway } from '../../src/gateway.ts'
import { type Identity, requireScope, WalletAddress } from '../../src/identity/keys.ts'
import { keyOf } from '../web/frame.ts'
import type { FrameContext } from '../web/frame-context.ts'

/** Finds the valid key of a request that may use the platform. Null for any other request, which may pay instead. */
export async function keyHolder(c: FrameContext, { keys }: Pick<Gateway, 'keys'>): Promise<Identity | null> {
  const token = keyOf(c.env.incoming.headers, c.req.path)
  if (token === null) return null
  try {
    const identity = keys.authenticateCached(token) ?? (await keys.authenticate(token))
    return identity.scopes.has('platform') ? identity : null
  } catch (error) {
    if (error instanceof GazewayError && error.code === 'invalid_api_key') return null
    throw error
  }
}

/**
 * Finds the identity that the `caller_id` of a metered call names. An API key proves itself, with or without the key of the
 * request. A wallet address is proven by the request's key, to which it is bound. Errors leave the `caller_id` out,
 * because it may be part of a key.
 *
 * @throws GazewayError `insufficient_scope` for a key without the scope `platform`; `invalid_api_key` for anything else
 */
export async function callerNamed(callerId: string, c: FrameContext, { keys }: Gateway): Promise<Identity> {
  const wallet = WalletAddress.safeParse(callerId)
  const token = wallet.success ? keyOf(c.env.incoming.headers, c.req.path) : callerId
  const identity = await keys.authenticate(token).catch(nameParam)
  requireScope(identity, 'platform')
  if (wallet.success && identity.wallet !== wallet.data) {
    throw new GazewayError(
      'invalid_api_key',
      'caller_id: this wallet is not bound to the API key that was sent. Bind it with: gazeway key create --wallet 0x…, ' +
        'or name the caller by its API key.',
      { param: 'caller_id' },
    )
  }
  return identity
}

/**
 * Finds the owner whose calls, receipts and account a caller may see. It is the caller or its bound wallet; for an
 * admin the requested owner, or undefined for all.
 *
 * @param param name of the field that asks
 * @throws GazewayError `insufficient_scope` when another caller asks for another owner
 */
export function shownTo(
  { id, wallet, scopes }: Identity,
  asked: string | undefined,
  param = 'caller_id',
): string | undefined {
  if (scopes.has('admin')) return asked
  if (asked === undefined) return id
  if (asked === id || asked === wallet) return asked
  throw new GazewayError(
    'insufficient_scope',
    `Only an admin may read the records of another caller; your own id is ${id}.`,
    {
      param,
    },
  )
}

/** Rewrites an error to name `caller_id`. */
function nameParam(error: unknown): never {
  if (!(error instanceof GazewayError) || error.code !== 'invalid_api_key') throw error
  throw new GazewayError(
    'invalid_api_key',
    'caller_id: must be a valid API key, or a wallet address together with the API key that it is bound to as ' +
      '"Authorization: Bearer KEY".',
    { param: 'caller_id', cause: error },
  )
}
