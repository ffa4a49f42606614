#!/bin/sh
# cluster.sh start DIRECTORY: starts a Slurm cluster of this machine alone (munged, slurmctld, slurmd), with all its files in
#   DIRECTORY and on ports that are free; no file of /etc is read or changed. Clients find it by SLURM_CONF=DIRECTORY/slurm.conf.
# cluster.sh crash DIRECTORY: kills slurmd, all at once, and starts it again.
# cluster.sh stop DIRECTORY: ends its jobs and its three processes.
# With ACCOUNTS=1 it keeps accounts, too, for sacct: mariadbd and slurmdbd run beside it (packages mariadb-server, slurmdbd).
# It needs the packages slurm-wlm and munge; exit status 2 when they are not there.
export PATH="$PATH:/usr/sbin:/sbin"
action=$1
directory=$2
cpus=${CPUS:-8} # more than one, so that jobs wait for each other even where one processor is told
if [ -z "$directory" ]; then
  echo "usage: cluster.sh start|crash|stop DIRECTORY"
  exit 1
fi
export SLURM_CONF="$directory/slurm.conf"

# Ends the process whose number is in a file, and waits for its end.
end_process() {
  test -f "$1" || return 0
  pid=$(cat "$1")
  kill "$pid" 2>/dev/null
  tries=0
  while kill -0 "$pid" 2>/dev/null && [ $tries -lt 50 ]; do
    sleep 0.1
    tries=$((tries + 1))
  done
  kill -KILL "$pid" 2>/dev/null
  rm -f "$1"
}

if [ "$action" = stop ]; then
  scancel --quiet --user="$(id -un)" --state=PENDING >/dev/null 2>&1
  scancel --quiet --signal=KILL --full --user="$(id -un)" >/dev/null 2>&1
  scancel --quiet --user="$(id -un)" >/dev/null 2>&1
  kill -KILL "$(cat "$directory/slurmd.pid")" "$(cat "$directory/munged.pid")" 2>/dev/null # they have nothing to save
  for name in slurmctld slurmdbd mariadbd slurmd munged; do end_process "$directory/$name.pid"; done
  exit 0
fi

if [ "$action" = crash ]; then
  kill -KILL "$(cat "$directory/slurmd.pid")" || exit 1
  sleep 0.2
  slurmd >>"$directory/slurmd.out" 2>&1
  exit
fi

accounting=accounting_storage/none
if [ -n "$ACCOUNTS" ]; then accounting=accounting_storage/slurmdbd; fi
for program in munged mungekey slurmctld slurmd sbatch ${ACCOUNTS:+mariadbd mariadb-install-db slurmdbd sacctmgr}; do
  if ! command -v "$program" >/dev/null; then
    echo "cluster.sh: $program is missing: install slurm-wlm and munge${ACCOUNTS:+, mariadb-server and slurmdbd}"
    exit 2
  fi
done

# A port that nobody listens to.
free_port() {
  port=$1
  while awk '{print $2}' /proc/net/tcp 2>/dev/null | grep -qi ":$(printf '%04X' "$port")\$"; do port=$((port + 1)); done
  echo "$port"
}

if [ -e "$SLURM_CONF" ]; then
  echo "cluster.sh: $directory holds a cluster: stop it and remove the directory"
  exit 1
fi
mkdir -p "$directory/state" "$directory/spool" "$directory/munge" || exit 1
directory=$(cd "$directory" && pwd)
chmod 755 "$directory"
chmod 700 "$directory/munge"
export SLURM_CONF="$directory/slurm.conf"
first=$((20000 + $$ % 20000))
controller=$(free_port $first)
node=$(free_port $((controller + 1)))
me=$(id -un)
mungekey --create --keyfile="$directory/munge/key" || exit 1
munged --force --key-file="$directory/munge/key" --socket="$directory/munge/socket" --pid-file="$directory/munged.pid" \
  --log-file="$directory/munged.log" --seed-file="$directory/munge/seed" || exit 1
# Waits until a command succeeds, which is tried 60 times.
wait_for() {
  tries=0
  until "$@" >/dev/null 2>&1; do
    tries=$((tries + 1))
    if [ $tries -gt 60 ]; then return 1; fi
    sleep 0.2
  done
}

# A database in the directory, and the daemon that keeps Slurm's accounts in it.
start_accounts() {
  database=$(free_port $((node + 1)))
  dbd=$(free_port $((database + 1)))
  mariadb-install-db --no-defaults --datadir="$directory/database" --auth-root-authentication-method=normal \
    --skip-test-db >"$directory/install.log" 2>&1 || return 1
  mariadbd --no-defaults --user="$me" --datadir="$directory/database" --socket="$directory/database.socket" \
    --bind-address=127.0.0.1 --port="$database" --skip-name-resolve --pid-file="$directory/mariadbd.pid" \
    >"$directory/mariadbd.log" 2>&1 &
  wait_for mariadb --no-defaults -S "$directory/database.socket" -u root -e "select 1" || return 1
  mariadb --no-defaults -S "$directory/database.socket" -u root -e "create user 'slurm'@'127.0.0.1' identified by 'slurm';
    grant all on slurm_accounts.* to 'slurm'@'127.0.0.1'" || return 1
  cat >"$directory/slurmdbd.conf" <<END
AuthType=auth/munge
AuthInfo=socket=$directory/munge/socket
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort=$dbd
SlurmUser=$me
PidFile=$directory/slurmdbd.pid
LogFile=$directory/slurmdbd.log
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort=$database
StorageUser=slurm
StoragePass=slurm
StorageLoc=slurm_accounts
END
  chmod 600 "$directory/slurmdbd.conf"
}

# slurmctld registers its cluster at a daemon that listens.
wait_for_accounts() {
  slurmdbd >"$directory/slurmdbd.out" 2>&1 || return 1
  wait_for timeout 2 sacctmgr --immediate --noheader list cluster
}

dbd=
if [ -n "$ACCOUNTS" ] && ! start_accounts; then
  echo "cluster.sh: the database does not come up; see $directory/install.log and $directory/mariadbd.log"
  sh "$0" stop "$directory"
  exit 1
fi
cat >"$SLURM_CONF" <<END
ClusterName=nslua
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmUser=$me
SlurmdUser=$me
SlurmctldPort=$controller
SlurmdPort=$node
AuthType=auth/munge
AuthInfo=socket=$directory/munge/socket,cred_expire=5
CredType=cred/munge
SlurmctldPidFile=$directory/slurmctld.pid
SlurmdPidFile=$directory/slurmd.pid
SlurmctldLogFile=$directory/slurmctld.log
SlurmdLogFile=$directory/slurmd.log
StateSaveLocation=$directory/state
SlurmdSpoolDir=$directory/spool
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SwitchType=switch/none
MpiDefault=none
AccountingStorageType=$accounting
AccountingStorageHost=127.0.0.1
AccountingStoragePass=$directory/munge/socket
AccountingStoragePort=${dbd:-6819}
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/none
ReturnToService=2
MaxArraySize=1001
KillWait=2
BatchStartTimeout=1
MessageTimeout=5
SlurmdTimeout=9
MinJobAge=3
SlurmdParameters=config_overrides
SchedulerType=sched/backfill
SchedulerParameters=sched_min_interval=10000,batch_sched_delay=0,sched_interval=1,bf_interval=1
NodeName=$(hostname -s) NodeAddr=127.0.0.1 CPUs=$cpus State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
if [ -n "$ACCOUNTS" ] && ! wait_for_accounts; then
  echo "cluster.sh: slurmdbd does not come up; see $directory/slurmdbd.log"
  sh "$0" stop "$directory"
  exit 1
fi
slurmctld -c >"$directory/slurmctld.out" 2>&1 || { cat "$directory/slurmctld.out"; exit 1; }
slurmd >"$directory/slurmd.out" 2>&1 || { cat "$directory/slurmd.out"; exit 1; }
tries=0
until sinfo -h -o %T 2>/dev/null | grep -q -x idle; do
  tries=$((tries + 1))
  if [ $tries -gt 100 ]; then
    echo "cluster.sh: the node does not come up; see $directory/slurmctld.log and $directory/slurmd.log"
    sh "$0" stop "$directory"
    exit 1
  fi
  sleep 0.2
done
echo "export SLURM_CONF=$SLURM_CONF"
