import type { PlacedOperation } from './api-document.ts'

/** A request as it is sent. */
export interface Asked {
  method: string
  /** Path with its query. */
  path: string
  /** JSON; null without a body. */
  body: string | null
}

/** Request of an operation's example, with the values of its parameters. */
export function exampleRequest({ method, path, parameters, requestBody }: PlacedOperation): Asked {
  const values = Object.fromEntries(
    parameters.filter(({ example }) => example !== undefined).map(({ name, example }) => [name, String(example)]),
  )
  const body = requestBody?.content['application/json']?.example
  const text = body === undefined ? null : JSON.stringify(body, null, 2)
  return { method, path: filled(path, parameters, values), body: text }
}

/** Path with the values of parameters; one without a value in the path stays as it is. */
export function filled(
  path: string,
  parameters: PlacedOperation['parameters'],
  values: Readonly<Record<string, string>>,
): string {
  const place = path.replaceAll(/\{(\w+)\}/g, (all, name: string) =>
    values[name] ? encodeURIComponent(values[name]) : all,
  )
  const query = parameters.flatMap(({ name, in: where }) =>
    where === 'query' && values[name] ? [[name, values[name]] as [string, string]] : [],
  )
  return query.length === 0 ? place : `${place}?${new URLSearchParams(query)}`
}

/** Command that sends a request. The key is in a variable. */
export function curl({ method, path, body }: Asked, base: string): string {
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
  const parts = [`curl ${quoted(base + path)}`, `-H "Authorization: Bearer $GAZEWAY_KEY"`]
  if (method !== 'GET' && !(method === 'POST' && body !== null)) parts.push(`-X ${method}`)
  if (body !== null) parts.push(`--json ${quoted(body)}`)
  return parts.join(' \\\n  ')
}

/** TypeScript that sends a request by `fetch`. */
export function typescript({ method, path, body }: Asked, base: string): string {
  const headers = ['authorization: `Bearer ${process.env.GAZEWAY_KEY}`']
  if (body !== null) headers.push(`'content-type': 'application/json'`)
  const lines = [
    `const reply = await fetch('${base}${path}', {`,
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    `  headers: { ${headers.join(', ')} },`,
    ...(body === null ? [] : [`  body: JSON.stringify(${body.replaceAll('\n', '\n  ')}),`]),
    '})',
    'console.log(reply.status, await reply.json())',
  ]
  return lines.join('\n')
}
