import * as z from 'zod'
import { GazewayError } from '../../../src/errors.ts'
import type { Gateway } from '../../../src/gateway.ts'
import { Period } from '../../../src/identity/budgets.ts'
import { ENVIRONMENT_IDENTITY } from '../../../src/identity/identity.ts'
import { type Identity, requireScope, WalletAddress } from '../../../src/identity/keys.ts'
import type { Balances } from '../../../src/wallet/wallet.ts'
import { callerOf } from '../../web/frame-context.ts'
import { CAPABILITIES, type Capability, PAID_CAPABILITIES } from '../capabilities.ts'
import { defineRoute, type Route } from '../define-route.ts'

type Tier = Verified['tier']

const Question = z
  .strictObject({
    session_id: z
      .string()
      .min(1)
      .max(128)
      .optional()
      .describe('A gaze session or a chat session. It is valid while its creator may make calls.'),
    key: z.string().min(1).max(4096).optional().describe('An API key. It is checked, and never stored or repeated.'),
    wallet: WalletAddress.optional().describe('A wallet address that is bound to a key or has money of its own.'),
  })
  .refine((named) => Object.values(named).filter((value) => value !== undefined).length === 1, {
    error: 'must have exactly one of session_id, key and wallet',
  })

const Verified = z.object({
  valid: z.boolean().describe('Whether the subject may make calls.'),
  tier: z
    .enum(['anonymous', 'free', 'metered', 'admin'])
    .describe('metered: has deposits or credit to spend; free: known, without either; anonymous: not known.'),
  subject: z.string().nullable().describe('The id of the key, or the wallet address; null when not valid.'),
  expires_at: z.iso
    .datetime()
    .nullable()
    .describe('Expiry of the key or of the session’s attestation; null without one, or if you may not see it.'),
  capabilities: z.array(z.enum(CAPABILITIES)).describe('Permissions of the subject.'),
  limits: z.object({
    requests_per_minute: z.int().nullable().describe('Null is no limit.'),
    available_usd: z.number().nullable().describe('This and the next two are null if you may not see them.'),
    credit_limit_usd: z.number().nullable(),
    budgets: z.array(z.object({ usd: z.number(), per: Period })).nullable(),
  }),
})
export type Verified = z.infer<typeof Verified>

interface Subject {
  /** Name of the subject in the reply. */
  name: string
  /** Owner of the account: a key id or wallet address; null for a session of a tool on this machine. */
  account: string | null
  /** Null without a key: for a wallet that only pays, or a session of a tool on this machine. */
  identity: Identity | null
  expiresAt: string | null
  /** The caller has proven to be the subject. */
  proven: boolean
}

/** Routes that tell what a subject may use. */
export const verifySessionRoutes = (gateway: Gateway): Route[] => [
  defineRoute('POST /api/verify-session', {
    operation: 'verifySession',
    summary: 'Verify a session, key or wallet, and list its permissions',
    description:
      'Always 200 for a valid request; an unknown subject is anonymous and not valid. Only the creator of a ' +
      'session and admins see it. A key with the scope inference alone may ask about itself.',
    access: 'own',
    body: Question,
    reply: Verified,
    async run({ body, c }) {
      const { requests_per_minute } = gateway.loaded.config.http.rate_limit
      const caller = callerOf(c)
      const subject = await subjectOf(gateway, body, caller)
      if (subject === null || subject.account !== caller.id) requireScope(caller, 'platform')
      return subject === null ? unknownTo(requests_per_minute) : describe(gateway.wallet, subject, requests_per_minute)
    },
  }),
]

/** @returns null for a subject that is unknown, no longer in force, or hidden from the caller */
async function subjectOf(
  gateway: Gateway,
  { session_id, key, wallet }: z.infer<typeof Question>,
  caller: Identity,
): Promise<Subject | null> {
  if (session_id !== undefined) return sessionSubject(gateway, session_id, caller)
  if (wallet !== undefined) return walletSubject(gateway, wallet, caller)
  const identity = await gateway.keys.authenticate(key ?? null).catch(nullIfRefused)
  return identity && { ...keySubject(identity, caller), proven: true }
}

async function sessionSubject(gateway: Gateway, sessionId: string, caller: Identity): Promise<Subject | null> {
  const sessions = await findSessions(gateway, sessionId)
  const session = sessions.find(({ maker }) => caller.scopes.has('admin') || caller.id === maker)
  if (session === undefined) return null
  const { maker, expiresAt } = session
  if (maker === null) return { name: sessionId, account: null, identity: null, expiresAt, proven: true }
  const isFixed = maker === ENVIRONMENT_IDENTITY.id && gateway.loaded.config.identity.api_key !== null
  const identity = isFixed ? ENVIRONMENT_IDENTITY : (await gateway.keys.inForce({ id: maker }))[0]
  return identity === undefined ? null : { ...keySubject(identity, caller), expiresAt }
}

/**
 * Finds the gaze session and the chat session with an id. They may have different creators. Each has the key that
 * created it (null: a tool on this machine) and the expiry of its attestation.
 */
async function findSessions(
  { gaze, sessions }: Gateway,
  id: string,
): Promise<Array<{ maker: string | null; expiresAt: string | null }>> {
  const [seen, chat] = await Promise.all([gaze.session(id), sessions.find(id)])
  return [
    ...(seen ? [{ maker: seen.caller_id, expiresAt: seen.attestation?.expires_at ?? null }] : []),
    ...(chat ? [{ maker: chat.user_id, expiresAt: null }] : []),
  ]
}

/** A wallet that is bound to a key counts as that key. Any other wallet is known while it has money. */
async function walletSubject({ keys, wallet }: Gateway, address: string, caller: Identity): Promise<Subject | null> {
  const [bound] = await keys.inForce({ wallet: address })
  if (bound !== undefined) return { ...keySubject(bound, caller), name: address }
  const { available_usd, held_usd, escrow_usd } = await wallet.balances(address)
  if (available_usd + held_usd + escrow_usd <= 0) return null
  return { name: address, account: address, identity: null, expiresAt: null, proven: caller.scopes.has('admin') }
}

function keySubject(identity: Identity, caller: Identity): Subject {
  const proven = caller.id === identity.id || caller.scopes.has('admin')
  return { name: identity.id, account: identity.id, identity, expiresAt: identity.expiresAt, proven }
}

const REFUSED: ReadonlySet<string> = new Set(['invalid_api_key', 'key_expired'])

function nullIfRefused(error: unknown): null {
  if (error instanceof GazewayError && REFUSED.has(error.code)) return null
  throw error
}

async function describe(
  wallet: Gateway['wallet'],
  { name, account, identity, expiresAt, proven }: Subject,
  requestsPerMinute: number | null,
): Promise<Verified> {
  const money = account === null ? null : await wallet.balances(account)
  const tier = tierOf(identity, money)
  return {
    valid: true,
    tier,
    subject: name,
    expires_at: proven ? expiresAt : null,
    capabilities: capabilitiesOf(identity, tier),
    limits: {
      requests_per_minute: requestsPerMinute,
      available_usd: proven && money ? money.available_usd : null,
      credit_limit_usd: proven && money ? money.credit_limit_usd : null,
      budgets: proven && money ? money.budgets.map(({ usd, per }) => ({ usd, per })) : null,
    },
  }
}

const unknownTo = (requests_per_minute: number | null): Verified => ({
  valid: false,
  tier: 'anonymous',
  subject: null,
  expires_at: null,
  capabilities: [],
  limits: { requests_per_minute, available_usd: null, credit_limit_usd: null, budgets: null },
})

function tierOf(identity: Identity | null, money: Balances | null): Tier {
  if (identity?.scopes.has('admin')) return 'admin'
  const mayPay = identity === null || identity.scopes.has('platform')
  return mayPay && money !== null && money.available_usd + money.credit_limit_usd > 0 ? 'metered' : 'free'
}

/**
 * A key for inference only has chat. A wallet without a key has only what it pays for. Capabilities that move money
 * require money.
 */
function capabilitiesOf(identity: Identity | null, tier: Tier): Capability[] {
  if (identity === null) return tier === 'metered' ? ['ai_chat', 'tempo_billing'] : []
  if (!identity.scopes.has('platform')) return ['ai_chat']
  return CAPABILITIES.filter((capability) => tier !== 'free' || !PAID_CAPABILITIES.has(capability))
}
