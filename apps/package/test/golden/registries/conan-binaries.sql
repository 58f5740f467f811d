-- conan_binaries: $1 isListOnly, $2 recipe, $3 project, $4 key, $5 version
select
  reference,
  case
    when bytes <= 1048576 then info
  end as info
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
          case
            when not :isListOnly::boolean then r.info
          end as info
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
order by
  reference
