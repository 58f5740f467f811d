/** Absolute URLs of the platform, as clients reach it through the gateway. */
export class Links {
  private readonly base: string;

  /** Shape: `externalUrl` as `ROOKERY_EXTERNAL_URL`, with or without a slash at its end; may have a path. */
  constructor(externalUrl: string) {
    this.base = externalUrl.replace(/\/+$/, '');
  }

  /** `{base}/x`. Shape: `path` is already encoded; a leading slash makes no difference. */
  webUrl(path: string): string {
    return `${this.base}/${path.replace(/^\/+/, '')}`;
  }

  /** `{base}/api/v4/x`. */
  apiUrl(path: string): string {
    return `${this.base}/api/v4/${path.replace(/^\/+/, '')}`;
  }
}
