import * as z from 'zod'
import { section } from './section.ts'

/** Form of a `whsec_` secret: 24 to 64 bytes (Standard Webhooks), in base64. */
const WEBHOOK_SECRET = /^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/
const [LEAST_BYTES, MAX_BYTES] = [24, 64]

function isWebhookSecret(text: string): boolean {
  if (!WEBHOOK_SECRET.test(text)) return false
  const encoded = text.slice('whsec_'.length)
  const bytes = Buffer.from(encoded, 'base64')
  return bytes.toString('base64') === encoded && bytes.length >= LEAST_BYTES && bytes.length <= MAX_BYTES
}

function isWebhookUrl(text: string): boolean {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return false
  const { username, password } = new URL(text)
  return username === '' && password === ''
}

/** Webhook for budget alerts. */
export const alertsSection = section(() => ({
  webhook_url: z.string().max(2048).refine(isWebhookUrl, 'not the address of a webhook').nullable().default(null).meta({
    variable: 'GAZEWAY_ALERTS_WEBHOOK_URL',
    description:
      'Webhook URL for alerts; may be on this machine or a private network. Unset, or without a secret: no alerts are sent.',
    accepted: 'an http or https URL without credentials, or null',
    secret: 'value',
  }),
  webhook_secret: z.string().refine(isWebhookSecret, 'not a secret of a webhook').nullable().default(null).meta({
    variable: 'GAZEWAY_ALERTS_WEBHOOK_SECRET',
    description: 'Signing secret of alerts (Standard Webhooks): echo "whsec_$(openssl rand -base64 32)".',
    accepted: 'whsec_ and 24 to 64 bytes in base64, or null',
    secret: 'value',
  }),
}))
