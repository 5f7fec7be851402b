/** Command that posts a body to a path of this Gazeway, for empty lists that teach the first step. */
export const curlOf = (path: string, body: object): string =>
  `curl ${location.origin}${path} -H "Authorization: Bearer $GAZEWAY_KEY" --json '${JSON.stringify(body)}'`
