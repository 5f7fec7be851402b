import { readFileSync } from 'node:fs'
import { code, table } from './table.ts'

/** Types of the platform's API, which a test compares with what it describes. */
const TYPES = 'adapters/console/web/api-types.ts'

/** Routes of the platform, by path: `/api/keys/{id}` with its methods. */
export function platformRoutes(): Array<{ path: string; methods: string[] }> {
  const [paths = ''] = readFileSync(TYPES, 'utf8').split(/^export (?:type|interface) (?!paths)/m)
  return paths
    .split(/^ {4}"(?=\/)/m)
    .slice(1)
    .map((entry) => ({
      path: entry.slice(0, entry.indexOf('"')),
      methods: [...entry.matchAll(/^ {8}(get|post|put|patch|delete): /gm)].map(([, name = '']) => name.toUpperCase()),
    }))
}

/** Table of all routes of the platform. */
export function routesTable(): string {
  const rows = platformRoutes().map(({ path, methods }) => [code(path), methods.map(code).join(', ')])
  return table(['path', 'methods'], rows)
}
