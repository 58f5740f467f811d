import { presenter, text } from '@rookery/api-v4';
import type { CustomAttribute } from './custom-attributes.service';

/** Source: reference identity-and-import 2.9. */
export const customAttribute = presenter<CustomAttribute>('CustomAttribute').fields({
  key: [text, (attribute) => attribute.key],
  value: [text, (attribute) => attribute.value],
});
