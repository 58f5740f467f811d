import { InvalidParameters } from '@rookery/kernel';

/** How the parser ends all its errors about a body that is not whole. It has no class or code for them. */
const OF_PARSER = /multipart data$/;

/** Returns a failure of the multipart parser as one of the request, `<part> is invalid`; any other error as it is. */
export function toInvalidPartError(error: unknown, part: string): unknown {
  const isOfParser = error instanceof Error && OF_PARSER.test(error.message);
  return isOfParser ? new InvalidParameters([`${part} is invalid`]) : error;
}
