import { ValidateBy } from 'class-validator';

/** Refuses a path that is empty, absolute or leads out of the repository. Source: reference repositories 3.3. */
export function IsFilePath({ mayBeginWithSlash = false } = {}): PropertyDecorator {
  const validate = (value: unknown): boolean => {
    const path = typeof value === 'string' && mayBeginWithSlash ? value.replace(/^\//, '') : value;
    return typeof path === 'string' && path !== '' && !path.startsWith('/') && !path.split('/').includes('..');
  };
  return ValidateBy(
    { name: 'isFilePath', validator: { validate } },
    { message: '$property should be a valid file path' },
  );
}
