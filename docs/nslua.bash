# Completion of nslua for bash: options, scripts, and the options that a script declares for nslua.options.
_nslua() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} script='' i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
    -e | -l) ((i++)) ;;
    -*) ;;
    *)
      script=${COMP_WORDS[i]}
      break
      ;;
    esac
  done
  if [[ -n $script ]]; then
    if [[ $word == -* && -r $script ]] && grep -q 'nslua\.options' -- "$script"; then
      local names
      names=$(sed -n 's/^.*{ *"\([A-Za-z_][A-Za-z0-9_]*\)", *\(default\|help\|choices\|min\|max\|above\|value\) *=.*$/--\1/p' -- "$script")
      mapfile -t COMPREPLY < <(compgen -W "$names --help" -- "$word")
    else
      mapfile -t COMPREPLY < <(compgen -f -- "$word")
    fi
  elif [[ $before == -e || $before == -l ]]; then
    return
  elif [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W '-e -l -i -E -W -v --compile --console --doctor --help --version --' -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -f -X '!*.lua' -- "$word"; compgen -d -S / -- "$word")
  fi
  compopt -o filenames 2>/dev/null
}
complete -F _nslua nslua
