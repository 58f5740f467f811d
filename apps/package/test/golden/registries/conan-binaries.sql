-- conan_binaries: $1 recipe, $2 project, $3 key, $4 version
select
  reference,
  info
from
  (
    select
      newest.*,
      sum(octet_length(coalesce(info, ''))) over (
        order by
          reference
      ) as bytes
    from
      (
        select distinct
          on (r.binary_reference) r.binary_reference as reference,
          r.info
        from
          packages p
          join conan_revisions r on r.package_id = p.id
          and r.recipe_revision = :recipe
          and r.binary_reference <> ''
          join conan_files c on c.revision_id = r.id
          join package_files m on m.id = c.file_id
          and m.file_name = 'conanmanifest.txt'
          and not m.is_pending_destruction
        where
          p.project_id = :project::bigint
          and p.package_type = 'conan'
          and p.name_key = :key
          and coalesce(p.version, '') = :version
          and p.status in ('default', 'hidden', 'deprecated')
        order by
          r.binary_reference,
          m.created_at desc,
          m.id desc
        limit
          1000
      ) newest
  ) shown
where
  bytes <= 16777216
order by
  reference
