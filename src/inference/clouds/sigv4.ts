import { createHash, createHmac } from 'node:crypto'

/** Keys of AWS. */
export interface AwsKeys {
  id: string
  secret: string
  /** Token of temporary keys. Null for lasting ones. */
  session: string | null
}

/** A request to sign. The path of its URL is encoded once, as it is sent. */
export interface SignedRequest {
  method: string
  url: URL
  body: Buffer | null
  region: string
  service: string
}

const hash = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex')
const hmac = (key: string | Buffer, data: string): Buffer => createHmac('sha256', key).update(data).digest()

const ALGORITHM = 'AWS4-HMAC-SHA256'

/**
 * Signs a request by Signature Version 4 (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html).
 * Signed are the host, the time and the body: what nobody on the way changes. These lines are fewer than a call of
 * `@smithy/signature-v4` with its three packages needs around it.
 *
 * @param at time of the request
 * @returns headers to add
 */
export function signV4(
  { method, url, body, region, service }: SignedRequest,
  keys: AwsKeys,
  at: Date,
): Record<string, string> {
  const time = at.toISOString().replace(/[:-]|\.\d{3}/g, '')
  const date = time.slice(0, 8)
  const own = { 'x-amz-date': time, ...(keys.session !== null && { 'x-amz-security-token': keys.session }) }
  const headers = Object.entries({ host: url.host, ...own })
  const names = headers.map(([name]) => name).join(';')
  const canonical = [
    method,
    encoded(url.pathname).replaceAll('%2F', '/'),
    queryOf(url),
    ...headers.map(([name, value]) => `${name}:${value}`),
    '',
    names,
    hash(body ?? ''),
  ].join('\n')
  const scope = `${date}/${region}/${service}/aws4_request`
  const key = [region, service, 'aws4_request'].reduce(hmac, hmac(`AWS4${keys.secret}`, date))
  const signature = hmac(key, [ALGORITHM, time, scope, hash(canonical)].join('\n')).toString('hex')
  return {
    ...own,
    authorization: `${ALGORITHM} Credential=${keys.id}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
  }
}

const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`)

const queryOf = ({ searchParams }: URL): string =>
  [...searchParams]
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .sort()
    .join('&')
