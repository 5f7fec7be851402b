import { once } from 'node:events'
import { request } from 'node:http'

/** A sample of a scrape. */
export interface Sample {
  name: string
  labels: Record<string, string>
  value: number
}

/** Reads the samples of Prometheus' text format. */
export const samplesIn = (text: string): Sample[] =>
  text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', labels = '', value] = /^([\w:]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
      const pairs = [...labels.matchAll(/([\w]+)="((?:[^"\\]|\\.)*)"/g)].map(([, label, text]) => [label, text])
      return { name, labels: Object.fromEntries(pairs), value: value === '+Inf' ? Infinity : Number(value) }
    })

/** Scrapes a service of this machine without a key. */
export async function scraped(url: string, headers: Record<string, string> = {}): Promise<Sample[]> {
  const reply = await fetch(`${url}/metrics`, { headers })
  if (reply.status !== 200) throw new Error(`/metrics answered ${reply.status}.`)
  return samplesIn(await reply.text())
}

/** Scrapes under a Host header, which `fetch` cannot set. */
export async function scrapedAs(
  url: string,
  { host, key }: { host: string; key?: string },
): Promise<{ status: number; samples: Sample[] }> {
  const { port } = new URL(url)
  const headers = { host, ...(key && { authorization: `Bearer ${key}` }) }
  const [reply] = await once(request({ host: '127.0.0.1', port, path: '/metrics', headers }).end(), 'response')
  let text = ''
  for await (const chunk of reply) text += chunk
  return { status: reply.statusCode, samples: reply.statusCode === 200 ? samplesIn(text) : [] }
}
